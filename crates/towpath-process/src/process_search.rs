//! Finding processes and ending them so that nothing slips through. What belongs to a run or a job
//! is found by descent, by session and by marker; what is found is first frozen, round after
//! round until nothing new appears, and only then killed: a frozen process cannot fork, and a
//! frozen supervisor cannot start its children again. Never touches this process or its
//! ancestors.

use crate::leftover::Leftover;
use crate::os::{self, Process, ProcessKey};
use crate::process_marker::{Found, Marker};
use rustix::process::Signal;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};
use towpath_core::Secrets;

/// Which processes are searched for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SearchScope<'a> {
    /// Everything below this process, which is the run's warden, and what carries its marker.
    Run(&'a Marker),
    /// Likewise of one job, whose process is or was `leader`.
    Job { marker: &'a Marker, job: &'a str, leader: Option<i32> },
    /// Of every session of a run, whose wardens are gone.
    Crashed { run_id: &'a str },
}

/// Whether the search among the orphans found any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkedOrphans {
    /// No orphan carries the marker.
    None,
    /// One does, or did when the time was over.
    Some,
}

/// Frozen processes do not fork, so each round sees strictly fewer that run. What forks and exits
/// faster than the table is read is not for rounds: `marked_orphans` and `orphans` end it.
const ROUNDS: usize = 20;
/// How long one search among the orphans may take.
const ORPHAN_TIME: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct ProcessSearch<'a> {
    whose: SearchScope<'a>,
    me: i32,
    /// Markers already read. Empty environments are not kept: the process may just be executing.
    read: HashMap<ProcessKey, Option<Found>>,
    /// Processes that inherit the orphans of what was found.
    reapers: BTreeSet<i32>,
}

impl<'a> ProcessSearch<'a> {
    pub fn new(whose: SearchScope<'a>) -> ProcessSearch<'a> {
        let (me, reapers) = (os::own_pid(), BTreeSet::new());
        ProcessSearch { whose, me, read: HashMap::new(), reapers }
    }

    /// What lives now.
    pub fn living(&mut self) -> Vec<Process> {
        self.members(&os::all_processes()).into_iter().filter(Process::lives).collect()
    }

    /// What lives now, with what a user wants to know of it.
    pub fn leftovers(&mut self, secrets: &Secrets) -> BTreeMap<ProcessKey, Leftover> {
        let living = self.living();
        living.iter().map(|p| (p.key, self.describe(p.key, secrets))).collect()
    }

    pub fn describe(&mut self, key: ProcessKey, secrets: &Secrets) -> Leftover {
        let job = self.found(key).and_then(|found| found.job.clone());
        Leftover { pid: key.pid.unsigned_abs(), command: os::command_of(key.pid, secrets), job }
    }

    /// Stops everything, and returns all that was found.
    pub fn freeze(&mut self) -> Vec<ProcessKey> {
        let mut met = BTreeSet::new();
        for _ in 0..ROUNDS {
            let table = os::all_processes();
            let members = self.members(&table);
            let new = |p: &Process| p.lives() && !met.contains(&p.key);
            let fresh: Vec<Process> = members.iter().copied().filter(new).collect();
            if fresh.is_empty() {
                break;
            }
            send(&table, &members, &fresh, Signal::STOP);
            met.extend(fresh.iter().map(|p| p.key));
            self.reapers.extend(fresh.iter().map(|p| p.parent));
        }
        met.into_iter().collect()
    }

    /// Freezes and kills until nothing lives or the time is over; returns what still lives.
    /// `reap` is called in between, so that dead children make room.
    pub fn kill(&mut self, until: Instant, reap: &mut dyn FnMut()) -> Vec<Process> {
        self.kill_frozen(&[], until, reap)
    }

    /// As `kill`, after the caller has frozen and looked at `frozen`.
    pub fn kill_frozen(
        &mut self,
        frozen: &[ProcessKey],
        until: Instant,
        reap: &mut dyn FnMut(),
    ) -> Vec<Process> {
        let mut pause = Duration::from_micros(200);
        for key in frozen {
            os::signal(*key, Signal::KILL);
        }
        loop {
            for key in self.freeze() {
                os::signal(key, Signal::KILL);
            }
            let chased = self.marked_orphans(Some(Signal::KILL));
            reap();
            let living = self.living();
            if (living.is_empty() && chased == MarkedOrphans::None) || Instant::now() >= until {
                return living;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Looks for the marker among the orphans, whose new parents are known: what forks and exits
    /// without a pause is always one of their children, though in no table of all processes. A pass
    /// proves something only if everything in it lived while it was looked at.
    pub fn marked_orphans(&mut self, signal: Option<Signal>) -> MarkedOrphans {
        let reapers = match self.whose {
            SearchScope::Run(_) => return MarkedOrphans::None,
            SearchScope::Job { .. } => BTreeSet::from([self.me]),
            SearchScope::Crashed { .. } => &self.ancestors() | &self.reapers,
        };
        let own = os::children_of(self.me);
        let mut passed: HashSet<i32> = self.ancestors().into_iter().collect();
        if matches!(self.whose, SearchScope::Crashed { .. }) {
            passed.extend(own);
        }
        let until = Instant::now() + ORPHAN_TIME;
        loop {
            let mut chased = MarkedOrphans::None;
            for pid in reapers.iter().flat_map(|reaper| os::children_of(*reaper)) {
                if passed.contains(&pid) {
                    continue;
                }
                let living = os::process(pid).filter(Process::lives);
                if let Some(process) = living.filter(|process| self.is_marked(process.key)) {
                    let Some(signal) = signal else { return MarkedOrphans::Some };
                    os::signal(process.key, signal);
                    chased = MarkedOrphans::Some;
                    continue;
                }
                // One that has died before its environment was read may have left a child, which is
                // in the list when it is dead, and not yet while it is dying.
                let now = os::process(pid).filter(Process::lives);
                if now.is_none_or(|now| now.is_dying()) {
                    chased = MarkedOrphans::Some;
                }
                if now.is_none_or(|now| !now.is_dying()) {
                    passed.insert(pid);
                }
            }
            if chased == MarkedOrphans::None || Instant::now() >= until {
                return chased;
            }
        }
    }

    /// This process, its parent and so on.
    fn ancestors(&self) -> BTreeSet<i32> {
        let mut ancestors = BTreeSet::from([1]);
        let mut next = self.me;
        while next > 0 && ancestors.insert(next) {
            next = os::process(next).map_or(0, |p| p.parent);
        }
        ancestors
    }

    fn members(&mut self, table: &[Process]) -> Vec<Process> {
        let below = descendants(table, &HashSet::from([self.me]));
        let spared = self.spared(table, &below);
        let mut members: HashSet<i32> = match self.whose {
            SearchScope::Run(_) => below.clone(),
            SearchScope::Job { leader: Some(leader), .. } => {
                let of_leader = |p: &&Process| [p.key.pid, p.group, p.session].contains(&leader);
                let own = table.iter().filter(of_leader).map(|p| p.key.pid);
                own.filter(|pid| below.contains(pid)).collect()
            }
            SearchScope::Job { .. } | SearchScope::Crashed { .. } => HashSet::new(),
        };
        self.add_marked(table, &spared, &mut members);
        self.close(table, &below, &mut members);
        let theirs = |p: &&Process| members.contains(&p.key.pid) && !spared.contains(&p.key.pid);
        table.iter().filter(theirs).copied().collect()
    }

    /// This process and its ancestors; and when it is not the warden, its own children.
    fn spared(&self, table: &[Process], below: &HashSet<i32>) -> HashSet<i32> {
        let parents: HashMap<i32, i32> = table.iter().map(|p| (p.key.pid, p.parent)).collect();
        let mut spared = HashSet::from([1]);
        let mut next = self.me;
        while next > 0 && spared.insert(next) {
            next = parents.get(&next).copied().unwrap_or(0);
        }
        if matches!(self.whose, SearchScope::Crashed { .. }) {
            spared.extend(below);
        }
        spared
    }

    fn add_marked(&mut self, table: &[Process], spared: &HashSet<i32>, members: &mut HashSet<i32>) {
        // Nothing that carries a living warden's marker is older than the warden.
        let own_start = table.iter().find(|p| p.key.pid == self.me).map_or(0, |p| p.key.started);
        let since = if matches!(self.whose, SearchScope::Crashed { .. }) { 0 } else { own_start };
        for process in table.iter().filter(|p| p.lives() && p.key.started >= since) {
            let pid = process.key.pid;
            if !spared.contains(&pid) && !members.contains(&pid) && self.is_marked(process.key) {
                members.insert(pid);
            }
        }
    }

    fn is_marked(&mut self, key: ProcessKey) -> bool {
        let whose = self.whose;
        self.found(key).is_some_and(|found| match whose {
            SearchScope::Run(marker) => found.carries(marker),
            SearchScope::Job { marker, job, .. } => found.is_of_job(marker, job),
            SearchScope::Crashed { run_id } => found.is_of_run(run_id),
        })
    }

    fn found(&mut self, key: ProcessKey) -> Option<&Found> {
        let found = match self.read.entry(key) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => unread.insert(Found::read(&os::environment_of(key.pid)?)),
        };
        found.as_ref()
    }

    /// Adds the children of members, and everything that shares a session with one: a session is
    /// only ever inherited, so all of it comes from the same job. For a living warden that is true
    /// within its own tree; after a crash, where the session's leader is no stranger.
    fn close(&self, table: &[Process], below: &HashSet<i32>, members: &mut HashSet<i32>) {
        let crashed = matches!(self.whose, SearchScope::Crashed { .. });
        let own_session = table.iter().find(|p| p.key.pid == self.me).map_or(0, |p| p.session);
        let in_reach = |p: &&Process| crashed || below.contains(&p.key.pid);
        loop {
            let before = members.len();
            let known = table.iter().filter(in_reach).filter(|p| members.contains(&p.key.pid));
            let mut sessions: HashSet<i32> = known.map(|p| p.session).collect();
            sessions.retain(|s| *s > 1 && *s != own_session);
            if crashed {
                sessions.retain(|s| members.contains(s) || !is_stranger(*s));
            }
            let kin = table.iter().filter(in_reach).filter(|p| sessions.contains(&p.session));
            members.extend(kin.map(|p| p.key.pid));
            members.extend(descendants(table, members));
            if members.len() == before {
                return;
            }
        }
    }
}

/// Whether this leader, no member, lives outside the run. One that is dying can no longer show a
/// marker; it is looked at again, because it may have begun to die since the table was read.
fn is_stranger(leader: i32) -> bool {
    os::process(leader).is_some_and(|p| p.lives() && !p.is_dying())
}

/// All processes below `roots`, without the roots.
fn descendants(table: &[Process], roots: &HashSet<i32>) -> HashSet<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process.key.pid);
    }
    let mut found = HashSet::new();
    let mut open: Vec<i32> = roots.iter().copied().collect();
    while let Some(pid) = open.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if found.insert(*child) {
                open.push(*child);
            }
        }
    }
    found
}

/// To whole groups first, where all of the group are members: a group is hit at one instant, so
/// that not even a chain in which each process forks the next and exits can outrun it.
fn send(table: &[Process], members: &[Process], to: &[Process], signal: Signal) {
    let pids: HashSet<i32> = members.iter().map(|p| p.key.pid).collect();
    let strangers = table.iter().filter(|p| !pids.contains(&p.key.pid));
    let foreign: HashSet<i32> = strangers.map(|p| p.group).collect();
    let groups: HashSet<i32> =
        to.iter().map(|p| p.group).filter(|g| !foreign.contains(g)).collect();
    for group in groups {
        os::signal_group(group, signal);
    }
    for process in to {
        os::signal(process.key, signal);
    }
}

/// Asks each to end. A stopped process would hear it only when it is continued.
pub(crate) fn ask_to_end(processes: &[Process]) {
    for process in processes {
        os::signal(process.key, Signal::TERM);
    }
    wake(processes);
}

pub(crate) fn wake(processes: &[Process]) {
    for process in processes.iter().filter(|p| p.is_stopped()) {
        os::signal(process.key, Signal::CONT);
    }
}

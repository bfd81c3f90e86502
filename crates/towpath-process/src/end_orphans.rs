//! Ending every child of a process that orphans are given to. A list of processes proves nothing:
//! one that forks and exits faster than the list is read is in none. But each orphan becomes a child
//! of this process in the same instant in which its parent ends, so the kernel's list of our own
//! children always has one of every chain; and a process that `KILL` was sent to forks no more. So
//! children are killed until there are none.

use crate::leftover::Leftover;
use crate::os::{self, ProcessKey};
use crate::warden_event::ExitStatus;
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, waitid, waitpid,
};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::time::{Duration, Instant};
use towpath_core::Secrets;

/// The pause when all that is left was killed already and only has to die.
const SHORTEST: Duration = Duration::from_micros(50);
const LONGEST: Duration = Duration::from_millis(5);
/// How long a subreaper kills what hangs in the kernel.
const PATIENCE: Duration = Duration::from_secs(5);

/// What came of the children of this process.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Killed here.
    pub killed: BTreeMap<ProcessKey, Leftover>,
    /// All that were reaped, also those that ended by themselves.
    pub exits: Vec<(i32, ExitStatus)>,
    /// What even `KILL` could not end in time.
    pub left: Vec<Leftover>,
}

/// Kills every child of this process but `spared`, and what is given to it meanwhile, until no child
/// is left or the time is over.
pub(crate) fn end_children(spared: &HashSet<i32>, until: Instant, secrets: &Secrets) -> Ended {
    let mut done = Ended::default();
    let mut dying = BTreeMap::new();
    let mut pause = SHORTEST;
    loop {
        let mut children = os::children_of(os::own_pid());
        children.retain(|pid| !spared.contains(pid));
        if children.is_empty() {
            return done;
        }
        for pid in &children {
            os::signal_child(*pid, Signal::KILL);
        }
        pause = match children.iter().any(|pid| !dying.contains_key(pid)) {
            true => SHORTEST,
            false => (pause * 2).min(LONGEST),
        };
        for pid in children {
            dying.entry(pid).or_insert_with(|| describe(pid, secrets));
            if let Some(status) = reap(pid) {
                let known = dying.remove(&pid).filter(|_| status.signal == Some(libc::SIGKILL));
                done.killed.extend(known);
                done.exits.push((pid, status));
            }
        }
        if Instant::now() >= until {
            done.left = dying.into_values().map(|(_, leftover)| leftover).collect();
            return done;
        }
        if pause > SHORTEST {
            std::thread::sleep(pause);
        }
    }
}

fn describe(pid: i32, secrets: &Secrets) -> (ProcessKey, Leftover) {
    let key = os::process(pid).map_or(ProcessKey { pid, started: 0 }, |process| process.key);
    let command = os::name_of(pid, secrets);
    (key, Leftover { pid: pid.unsigned_abs(), command, job: None })
}

fn reap(pid: i32) -> Option<ExitStatus> {
    let (_, status) = waitpid(Pid::from_raw(pid), WaitOptions::NOHANG).ok()??;
    Some(exit_status(status))
}

pub(crate) fn exit_status(status: WaitStatus) -> ExitStatus {
    ExitStatus { code: status.exit_status(), signal: status.terminating_signal() }
}

/// This process as the one that is given its warden's children, should the warden be killed. Only for
/// a process that has no other work than the run: orphans of whatever it starts become its children.
#[derive(Debug)]
pub struct Subreaper {
    before: HashSet<i32>,
}

impl Subreaper {
    /// Before the warden is there.
    pub fn new() -> io::Result<Subreaper> {
        os::adopt_orphans(true)?;
        let before = if has_children() { os::children_of(os::own_pid()) } else { Vec::new() };
        Ok(Subreaper { before: before.into_iter().collect() })
    }

    /// When the warden is gone, or does not listen: ends what it has left, at once. Returns what
    /// was ended, and what even `KILL` could not end.
    pub fn end(self, secrets: &Secrets) -> (Vec<Leftover>, Vec<Leftover>) {
        if !has_children() {
            return (Vec::new(), Vec::new());
        }
        let done = end_children(&self.before, Instant::now() + PATIENCE, secrets);
        (done.killed.into_values().collect(), done.left)
    }
}

impl Drop for Subreaper {
    fn drop(&mut self) {
        let _ = os::adopt_orphans(false);
    }
}

/// Without reaping any.
fn has_children() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, options), Err(Errno::CHILD))
}

//! One job from its start to its end. A job that ends by itself is reported at once, and its background
//! children live on. A job that is stopped is reported only when nothing of it lives: first
//! its group is asked, then, when its own process has gone, whoever is left; after the grace all
//! that remains is killed.

use super::{TICK, WardenProcess};
use crate::child_spec::ChildSpec;
use crate::error::{StartError, StartErrorKind};
use crate::leftover::Leftover;
use crate::os::{self, ProcessKey};
use crate::output::Output;
use crate::process_search::{MarkedOrphans, ProcessSearch, SearchScope, ask_to_end, wake};
use crate::warden_event::{Event, ExitStatus};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long one round of killing may keep the loop from other work.
const ROUND: Duration = Duration::from_millis(100);
/// After this the end of a job is reported although something of it hangs in the kernel.
const PATIENCE: Duration = Duration::from_secs(2);
/// After this it is reported in any case. What does not hang dies as soon as it gets processor time,
/// which on a busy machine is much later than the signal.
const BUSY_PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Job {
    pub pid: i32,
    pub text: String,
    pub exit: Option<ExitStatus>,
    phase: Phase,
    ended: BTreeMap<ProcessKey, Leftover>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Running,
    Stopping { kill_at: Instant, look_at: Instant },
    Killing { since: Instant, look_at: Instant },
}

impl Job {
    pub fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => None,
            Phase::Stopping { kill_at, .. } if self.exit.is_none() => Some(kill_at),
            Phase::Stopping { kill_at, look_at } => Some(kill_at.min(look_at)),
            Phase::Killing { look_at, .. } => Some(look_at),
        }
    }

    fn look_soon(&mut self, now: Instant) {
        match &mut self.phase {
            Phase::Running => {}
            Phase::Stopping { look_at, .. } | Phase::Killing { look_at, .. } => *look_at = now,
        }
    }
}

impl WardenProcess {
    pub(super) fn start(&mut self, spec: ChildSpec) {
        let known =
            self.jobs.contains_key(&spec.id) || self.waiting.iter().any(|w| w.id == spec.id);
        match (self.sweep.is_some(), known) {
            (true, _) => self.refuse(spec.id, "the run is being ended"),
            (_, true) => self.refuse(spec.id, "a job with this number is running"),
            _ => {
                self.waiting.push_back(spec);
                self.start_waiting();
            }
        }
    }

    /// Starts jobs in their order, as far as the system has open files and processes for them. Where
    /// it has not, they wait until another job has ended.
    pub(super) fn start_waiting(&mut self) {
        while let Some(spec) = self.waiting.pop_front() {
            let others = !self.jobs.is_empty();
            if others && !self.pumps.have_room() {
                return self.waiting.push_front(spec);
            }
            match crate::start_child::start(&spec, &self.marker, &self.secrets) {
                Ok((pid, outputs)) => self.started(spec, pid, outputs),
                Err(error) if others && error.kind == StartErrorKind::NoResources => {
                    return self.waiting.push_front(spec);
                }
                Err(error) => self.report(Event::StartFailed { id: spec.id, error }),
            }
        }
    }

    fn started(&mut self, spec: ChildSpec, pid: i32, outputs: Vec<Output>) {
        self.pumps.add(spec.id, outputs);
        if self.paused.is_some() {
            self.pause();
        }
        let (phase, ended) = (Phase::Running, BTreeMap::new());
        self.jobs.insert(spec.id, Job { pid, text: spec.job, exit: None, phase, ended });
        if spec.report_start {
            self.report(Event::Started { id: spec.id, pid: pid.unsigned_abs() });
        }
    }

    pub(super) fn refuse(&mut self, id: u64, why: &str) {
        self.report(Event::StartFailed {
            id,
            error: StartError::new(StartErrorKind::Refused, why),
        });
    }

    /// A job that has ended meanwhile is no error: its end is on the way to the engine.
    pub(super) fn stop(&mut self, id: u64, grace: Duration) {
        if let Some(at) = self.waiting.iter().position(|spec| spec.id == id) {
            self.waiting.remove(at);
            return self.refuse(id, "it was stopped before the system had room to start it");
        }
        let now = Instant::now();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match &mut job.phase {
            Phase::Running => {
                job.phase = Phase::Stopping { kill_at: now + grace, look_at: now + TICK };
            }
            Phase::Stopping { kill_at, .. } => *kill_at = (*kill_at).min(now + grace),
            Phase::Killing { .. } => return,
        }
        if grace.is_zero() || job.exit.is_some() {
            return;
        }
        let group = job.pid;
        let mut search = ProcessSearch::new(search_scope_of_job(&self.marker, &self.jobs, id));
        let living = search.living();
        let met: BTreeMap<_, _> =
            living.iter().map(|p| (p.key, search.describe(p.key, &self.secrets))).collect();
        // Not yet reaped, so the number is the job's for certain.
        os::signal_group(group, Signal::TERM);
        wake(&living);
        self.note_ended(id, met);
    }

    /// `alone`: the warden has no child left.
    pub(super) fn on_exit(&mut self, pid: i32, status: ExitStatus, alone: bool) {
        let now = Instant::now();
        let Some((&id, job)) = self.jobs.iter_mut().find(|(_, j)| j.pid == pid && j.exit.is_none())
        else {
            // An orphan: perhaps the last that an ending job was waiting for.
            self.jobs.values_mut().for_each(|job| job.look_soon(now));
            if let Some(sweep) = &mut self.sweep {
                sweep.look_soon(now);
            }
            return;
        };
        job.exit = Some(status);
        if self.sweep.is_some() {
            return;
        }
        if matches!(job.phase, Phase::Running) {
            self.earlier |= !alone;
            let left = if alone { Vec::new() } else { self.left_behind(id) };
            self.jobs.remove(&id);
            let lost = self.pumps.settle(id);
            self.report(Event::Ended { id, status, ended: Vec::new(), left, lost });
            return;
        }
        job.look_soon(now);
        if matches!(job.phase, Phase::Killing { .. }) {
            return;
        }
        let mut search = ProcessSearch::new(search_scope_of_job(&self.marker, &self.jobs, id));
        let living = search.living();
        let met: BTreeMap<_, _> =
            living.iter().map(|p| (p.key, search.describe(p.key, &self.secrets))).collect();
        ask_to_end(&living);
        self.note_ended(id, met);
    }

    fn note_ended(&mut self, id: u64, met: BTreeMap<ProcessKey, Leftover>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.ended.extend(met.into_iter().filter(|(key, _)| key.pid != job.pid));
    }

    /// What a job that ended by itself leaves behind. All of that hangs below children that the
    /// warden has just adopted, so mostly one short file shows that there is nothing.
    fn left_behind(&mut self, id: u64) -> Vec<Leftover> {
        let own = |pid: &i32| self.jobs.values().any(|j| j.pid == *pid && j.exit.is_none());
        let mut fresh = os::children_of(os::own_pid());
        fresh.retain(|pid| !own(pid) && !self.background.contains(pid));
        if fresh.is_empty() {
            return Vec::new();
        }
        self.background.extend(fresh);
        let mut search = ProcessSearch::new(search_scope_of_job(&self.marker, &self.jobs, id));
        search.leftovers(&self.secrets).into_values().collect()
    }

    pub(super) fn advance_jobs(&mut self, now: Instant) {
        if self.sweep.is_some() {
            return;
        }
        let due = |(id, job): (&u64, &Job)| job.deadline().filter(|at| *at <= now).map(|_| *id);
        for id in self.jobs.iter().filter_map(due).collect::<Vec<_>>() {
            self.advance_job(id, now);
        }
    }

    fn advance_job(&mut self, id: u64, now: Instant) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if let Phase::Stopping { kill_at, look_at } = &mut job.phase {
            if now < *kill_at {
                *look_at = now + TICK;
                if self.is_gone(id) {
                    self.finish(id, Vec::new());
                }
                return;
            }
            job.phase = Phase::Killing { since: now, look_at: now };
        }
        let left = self.kill_round(id);
        self.reap();
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Phase::Killing { since, look_at } = &mut job.phase else { return };
        *look_at = now + TICK;
        if job.exit.is_some() && is_over(&left, now.saturating_duration_since(*since)) {
            self.finish(id, left);
        }
    }

    /// Whether every process below the warden is this job's.
    fn is_only(&self, id: u64) -> bool {
        !self.earlier && self.jobs.len() == 1 && self.jobs.contains_key(&id)
    }

    /// Whether nothing of the job lives, as far as that can be distinguished from what others left.
    fn is_gone(&mut self, id: u64) -> bool {
        if os::children_of(os::own_pid()).is_empty() {
            return true;
        }
        let mut search = ProcessSearch::new(search_scope_of_job(&self.marker, &self.jobs, id));
        !self.is_only(id)
            && search.living().is_empty()
            && search.marked_orphans(None) == MarkedOrphans::None
    }

    /// Kills what is known to be the job's: all there is, where nothing else can be.
    fn kill_round(&mut self, id: u64) -> Vec<Leftover> {
        let until = Instant::now() + ROUND;
        if self.is_only(id) {
            let (met, left) = self.kill_all(until);
            self.note_ended(id, met);
            return left;
        }
        // Children are not reaped here: the loop does, and their numbers stay theirs until then.
        let mut search = ProcessSearch::new(search_scope_of_job(&self.marker, &self.jobs, id));
        let frozen = search.freeze();
        let met = frozen.iter().map(|key| (*key, search.describe(*key, &self.secrets))).collect();
        let living = search.kill_frozen(&frozen, until, &mut || {});
        let left = living.iter().map(|p| search.describe(p.key, &self.secrets)).collect();
        self.note_ended(id, met);
        left
    }

    fn finish(&mut self, id: u64, left: Vec<Leftover>) {
        let Some(job) = self.jobs.remove(&id) else { return };
        self.earlier |= !os::children_of(os::own_pid()).is_empty();
        let status = job.exit.unwrap_or(ExitStatus { code: None, signal: None });
        let survives = |l: &Leftover| left.iter().any(|s| s.pid == l.pid);
        let ended = job.ended.into_values().filter(|l| !survives(l)).collect();
        let lost = self.pumps.settle(id);
        self.report(Event::Ended { id, status, ended, left, lost });
    }
}

/// Whether what is left of a job, killed for this long, is waited for no longer.
fn is_over(left: &[Leftover], killed_for: Duration) -> bool {
    let hangs = |l: &Leftover| {
        let process = i32::try_from(l.pid).ok().and_then(os::process);
        process.is_none_or(|process| process.hangs())
    };
    match killed_for {
        time if time >= BUSY_PATIENCE => true,
        time if time >= PATIENCE => left.iter().all(hangs),
        _ => left.is_empty(),
    }
}

/// The number of a leader that is reaped may be another job's by now.
fn search_scope_of_job<'a>(
    marker: &'a crate::process_marker::Marker,
    jobs: &'a BTreeMap<u64, Job>,
    id: u64,
) -> SearchScope<'a> {
    let Some(job) = jobs.get(&id) else {
        return SearchScope::Job { marker, job: "", leader: None };
    };
    let taken = jobs.iter().any(|(other, j)| *other != id && j.pid == job.pid);
    SearchScope::Job { marker, job: &job.text, leader: (!taken).then_some(job.pid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that runs, or could if the machine were less busy, is waited for longer.
    #[test]
    fn only_what_hangs_in_the_kernel_is_given_up_early() {
        let runs = Leftover { pid: std::process::id(), command: String::new(), job: None };
        assert!(is_over(&[], Duration::ZERO));
        assert!(!is_over(std::slice::from_ref(&runs), PATIENCE - Duration::from_millis(1)));
        assert!(!is_over(std::slice::from_ref(&runs), PATIENCE));
        assert!(!is_over(std::slice::from_ref(&runs), BUSY_PATIENCE - Duration::from_millis(1)));
        assert!(is_over(&[runs], BUSY_PATIENCE));
        let gone = Leftover { pid: u32::MAX, command: String::new(), job: None };
        assert!(!is_over(std::slice::from_ref(&gone), Duration::ZERO));
        assert!(is_over(&[gone], PATIENCE));
    }
}

//! The end of a run: everything that still lives is asked to end, and after the grace killed;
//! background children included. Then the warden reports what there was, and exits.

use super::{LAST_PATIENCE, TICK, WardenProcess};
use crate::end_orphans::end_children;
use crate::leftover::Leftover;
use crate::os::{self, ProcessKey};
use crate::process_search::{ProcessSearch, SearchScope, ask_to_end};
use crate::warden_event::{Event, ExitStatus};
use rustix::process::Signal;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Sweep {
    kill_at: Instant,
    look_at: Instant,
    /// There was no child when it began.
    idle: bool,
    met: BTreeMap<ProcessKey, Leftover>,
}

impl Sweep {
    pub fn deadline(&self) -> Instant {
        self.kill_at.min(self.look_at)
    }

    pub fn look_soon(&mut self, now: Instant) {
        self.look_at = now;
    }
}

impl WardenProcess {
    pub(super) fn begin_sweep(&mut self, grace: Duration) {
        let now = Instant::now();
        if let Some(sweep) = &mut self.sweep {
            sweep.kill_at = sweep.kill_at.min(now + grace);
            return;
        }
        for spec in std::mem::take(&mut self.waiting) {
            self.refuse(spec.id, "the run is being ended");
        }
        // Every orphan is adopted: without a child there is no descendant either.
        let alone = self.reap();
        let mut search = ProcessSearch::new(SearchScope::Run(&self.marker));
        let living = if alone { Vec::new() } else { search.living() };
        let met = living.iter().map(|p| (p.key, search.describe(p.key, &self.secrets))).collect();
        if !grace.is_zero() {
            ask_to_end(&living);
        }
        // What was paused is awake again, or about to be killed.
        self.paused = None;
        self.sweep = Some(Sweep { kill_at: now + grace, look_at: now, idle: alone, met });
    }

    /// True when everything is over and reported.
    pub(super) fn advance_sweep(&mut self, now: Instant) -> bool {
        let Some(sweep) = &mut self.sweep else { return false };
        if now < sweep.deadline() {
            return false;
        }
        sweep.look_at = now + TICK;
        if sweep.idle {
            self.finish_sweep(Vec::new());
            return true;
        }
        if now >= sweep.kill_at {
            let (met, left) = self.kill_all(now + LAST_PATIENCE);
            if let Some(sweep) = &mut self.sweep {
                sweep.met.extend(met);
            }
            self.finish_sweep(left);
            return true;
        }
        let over =
            self.reap() && ProcessSearch::new(SearchScope::Run(&self.marker)).living().is_empty();
        if over {
            self.finish_sweep(Vec::new());
        }
        over
    }

    /// Kills until there is no child; returns what was found, and what even that could not end.
    pub(super) fn kill_all(
        &mut self,
        until: Instant,
    ) -> (BTreeMap<ProcessKey, Leftover>, Vec<Leftover>) {
        let mut search = ProcessSearch::new(SearchScope::Run(&self.marker));
        let frozen = search.freeze();
        let mut met: BTreeMap<_, _> =
            frozen.iter().map(|key| (*key, search.describe(*key, &self.secrets))).collect();
        for key in &frozen {
            os::signal(*key, Signal::KILL);
        }
        let done = end_children(&HashSet::new(), until, &self.secrets);
        for (key, leftover) in done.killed {
            met.entry(key).or_insert(leftover);
        }
        // What is no descendant any more, and still carries the marker.
        let outside = search.kill(until, &mut || {});
        let outside = outside.iter().map(|p| search.describe(p.key, &self.secrets));
        let mut left: Vec<Leftover> = done.left;
        for leftover in outside {
            // A descendant carries the marker as well.
            if left.iter().all(|known| known.pid != leftover.pid) {
                left.push(leftover);
            }
        }
        for (pid, status) in done.exits {
            self.on_exit(pid, status, false);
        }
        (met, left)
    }

    fn finish_sweep(&mut self, left: Vec<Leftover>) {
        let mut met = self.sweep.take().map_or_else(BTreeMap::new, |sweep| sweep.met);
        for (id, job) in std::mem::take(&mut self.jobs) {
            met.retain(|key, _| key.pid != job.pid);
            let status = job.exit.unwrap_or(ExitStatus { code: None, signal: None });
            let lost = self.pumps.settle(id);
            self.report(Event::Ended { id, status, ended: Vec::new(), left: Vec::new(), lost });
        }
        self.pumps.drain();
        let survives = |l: &Leftover| left.iter().any(|s| s.pid == l.pid);
        let ended = met.into_values().filter(|l| !survives(l)).collect();
        self.report(Event::Swept { ended, left });
    }
}

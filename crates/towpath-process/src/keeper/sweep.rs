//! The end of a run: everything that still lives is asked to end, and after the grace killed;
//! background children included. Then the warden says what there was, and leaves.

use super::{Keeper, TICK, take_exits};
use crate::event::{Event, ExitStatus};
use crate::hunt::{Hunt, Whose, ask_to_end};
use crate::leftover::Leftover;
use crate::os::ProcessKey;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long the final killing may take.
const PATIENCE: Duration = Duration::from_millis(900);

#[derive(Debug)]
pub(super) struct Sweep {
    kill_at: Instant,
    look_at: Instant,
    /// Nothing lived when it began.
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

impl Keeper {
    pub(super) fn begin_sweep(&mut self, grace: Duration) {
        let now = Instant::now();
        if let Some(sweep) = &mut self.sweep {
            sweep.kill_at = sweep.kill_at.min(now + grace);
            return;
        }
        // Every orphan is adopted: without a child there is no descendant either.
        let alone = self.reap();
        let mut hunt = Hunt::new(Whose::Run(&self.marker));
        let living = if alone { Vec::new() } else { hunt.living() };
        let met = living.iter().map(|p| (p.key, hunt.describe(p.key, &self.secrets))).collect();
        if !grace.is_zero() {
            ask_to_end(&living);
        }
        // What was paused is awake again, or about to be killed.
        self.paused = None;
        let idle = living.is_empty();
        self.sweep = Some(Sweep { kill_at: now + grace, look_at: now, idle, met });
    }

    /// True when everything is over and told.
    pub(super) fn advance_sweep(&mut self, now: Instant) -> bool {
        let Some(sweep) = &mut self.sweep else { return false };
        if now < sweep.deadline() {
            return false;
        }
        sweep.look_at = now + TICK;
        let mut hunt = Hunt::new(Whose::Run(&self.marker));
        if sweep.idle || now < sweep.kill_at {
            let over = sweep.idle || hunt.living().is_empty();
            if over {
                self.reap();
                self.finish_sweep(Vec::new());
            }
            return over;
        }
        let frozen = hunt.freeze();
        sweep.met.extend(frozen.iter().map(|key| (*key, hunt.describe(*key, &self.secrets))));
        let mut exits = Vec::new();
        let living = hunt.kill_frozen(&frozen, Instant::now() + PATIENCE, &mut || {
            take_exits(&mut exits);
        });
        let left = living.iter().map(|p| hunt.describe(p.key, &self.secrets)).collect();
        for (pid, status) in exits {
            self.on_exit(pid, status, false);
        }
        self.finish_sweep(left);
        true
    }

    fn finish_sweep(&mut self, left: Vec<Leftover>) {
        let mut met = self.sweep.take().map_or_else(BTreeMap::new, |sweep| sweep.met);
        for (id, job) in std::mem::take(&mut self.jobs) {
            met.retain(|key, _| key.pid != job.pid);
            let status = job.exit.unwrap_or(ExitStatus { code: None, signal: None });
            let lost = self.pumps.settle(id);
            self.tell(Event::Ended { id, status, ended: Vec::new(), left: Vec::new(), lost });
        }
        self.pumps.drain();
        let survives = |l: &Leftover| left.iter().any(|s| s.pid == l.pid);
        let ended = met.into_values().filter(|l| !survives(l)).collect();
        self.tell(Event::Swept { ended, left });
    }
}

//! Which faults of an agent are waited for, and how long. A rate limit always is. In an
//! unattended run an overloaded service and a refused login are too: an overnight run
//! must survive a short outage.

use crate::job_end::Fault;
use towpath_core::FaultKind;

/// The waits between tries that fail in the same way, in first waits.
const WAITS: [i64; 6] = [1, 2, 5, 10, 30, 60];

/// What a run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub why: FaultKind,
    pub until_ms: Option<i64>,
}

/// How long a run waits, and what it knows of its agents.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WaitPolicy {
    /// The first wait after a fault that is no rate limit; none where the user watches.
    first_ms: Option<i64>,
    /// Waits since an agent last answered.
    failed_waits: usize,
    /// An agent has answered, or reported a rate limit: its login has worked.
    known: bool,
}

impl WaitPolicy {
    pub fn begin(&mut self, first_ms: i64) {
        self.first_ms = Some(first_ms);
    }

    /// Another owner has the run.
    pub fn resumed(&mut self, waited: Option<Waiting>) {
        self.first_ms = None;
        self.failed_waits +=
            usize::from(waited.is_some_and(|waited| waited.why != FaultKind::Limit));
    }

    pub fn answered(&mut self) {
        (self.failed_waits, self.known) = (0, true);
    }

    /// What a fault makes the run wait for, if anything.
    pub fn waits_for(&mut self, fault: &Fault, now_ms: i64) -> Option<Waiting> {
        let until_ms = match fault.kind {
            FaultKind::Limit => {
                self.known = true;
                fault.until_ms
            }
            FaultKind::Overloaded => Some(self.next_try(now_ms)?),
            // A login that never worked is the user's to fix now.
            FaultKind::Auth if self.known => Some(self.next_try(now_ms)?),
            _ => return None,
        };
        Some(Waiting { why: fault.kind, until_ms })
    }

    fn next_try(&self, now_ms: i64) -> Option<i64> {
        let wait = WAITS[self.failed_waits.min(WAITS.len() - 1)];
        Some(now_ms.saturating_add(self.first_ms?.saturating_mul(wait)))
    }
}

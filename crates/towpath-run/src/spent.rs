//! What the agent calls of a run have cost.

use crate::run::Run;
use towpath_core::{JobKind, Usage};

/// What the agent calls of a run have cost, those too that were repeated since.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    pub calls: usize,
    /// The known part.
    pub cost_usd: Option<f64>,
    /// Some call did not report its cost.
    pub unknown: bool,
}

impl Spent {
    pub(crate) fn add(&mut self, usage: Option<Usage>) {
        self.calls += 1;
        match usage.and_then(|usage| usage.cost_usd) {
            Some(cost) => self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost),
            None => self.unknown = true,
        }
    }
}

impl Run {
    /// What the run's agent calls have cost so far.
    pub fn spent(&self) -> Spent {
        let in_flight = self.calls_in_flight();
        // What a call costs that has not ended is not known yet.
        let unknown = self.spent.unknown || in_flight > 0;
        Spent { calls: self.spent.calls + in_flight, unknown, ..self.spent }
    }

    /// How many agent calls have begun and not ended.
    pub fn calls_in_flight(&self) -> usize {
        self.running.keys().filter(|key| key.kind == JobKind::Agent).count()
    }
}

/// The usage of two calls; what one of them did not report is unknown for both.
pub(crate) fn sum(a: Option<Usage>, b: Option<Usage>) -> Option<Usage> {
    let (a, b) = (a?, b?);
    let add = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    Some(Usage {
        input_tokens: add(a.input_tokens, b.input_tokens),
        output_tokens: add(a.output_tokens, b.output_tokens),
        cost_usd: a.cost_usd.and_then(|a| Some(a + b.cost_usd?)),
    })
}

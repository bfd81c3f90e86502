//! What the agent calls of a run have cost.

use towpath_core::Usage;

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

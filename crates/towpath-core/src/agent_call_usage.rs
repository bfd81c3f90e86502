//! What an agent call used: tokens and cost, as far as its program reported them.

use serde::{Deserialize, Serialize};

/// What an agent call cost, as far as its program reported it. Unknown is `None`, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// What a session has used since it had used `earlier`: the difference of two totals. What
    /// either does not know, or what became less, is unknown.
    pub fn since(self, earlier: Usage) -> Usage {
        let tokens = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        let cost = self.cost_usd.zip(earlier.cost_usd).map(|(now, then)| now - then);
        Usage {
            input_tokens: tokens(self.input_tokens, earlier.input_tokens),
            output_tokens: tokens(self.output_tokens, earlier.output_tokens),
            cost_usd: cost.filter(|cost| *cost >= 0.0),
        }
    }

    /// What a session has used that was not used yet: all known to be nothing.
    pub const NOTHING: Usage =
        Usage { input_tokens: Some(0), output_tokens: Some(0), cost_usd: Some(0.0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_totals() {
        let usage = |input: u64, output: u64| Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            cost_usd: None,
        };
        assert_eq!(usage(600, 35).since(usage(300, 30)), usage(300, 5));
        assert_eq!(usage(300, 30).since(Usage::NOTHING), usage(300, 30));
        assert_eq!(usage(600, 35).since(Usage::default()), Usage::default());
        let less = Usage { input_tokens: None, ..usage(0, 5) };
        assert_eq!(usage(200, 35).since(usage(300, 30)), less);
    }
}

//! The rules that the recorded calls lead to.

use super::{FailureQuery, recorded};
use crate::corrections::user_rules_in_journal::user_rules;
use crate::exit_codes_and_errors::CommandError;
use serde_json::{Value, json};
use towpath_corrections::failure::{Learning, Proposal, RecordedCall, Suggestions, suggest};
use towpath_corrections::{Rule, RuleKey};
use towpath_store::Store;

/// Older calls than these are not looked at.
const MOST_CALLS: u32 = 50_000;

/// What was recorded, and what is known of it.
#[derive(Debug, Default)]
pub struct Recorded {
    pub calls: Vec<RecordedCall>,
    rules: Vec<Rule>,
    dismissed: Vec<RuleKey>,
}

impl Recorded {
    pub fn read(store: Option<&Store>, query: &FailureQuery) -> Result<Recorded, CommandError> {
        let Some(store) = store else { return Ok(Recorded::default()) };
        let query = FailureQuery { limit: query.limit.or(Some(MOST_CALLS)), ..query.clone() };
        let calls = query.calls(Some(store))?.iter().map(recorded).collect();
        let keys = store.dismissed_suggestions()?;
        let dismissed = keys.iter().filter_map(|key| serde_json::from_str(key).ok()).collect();
        Ok(Recorded { calls, rules: user_rules(store)?, dismissed })
    }

    /// Whether there is such a rule, or the user wants none.
    pub fn is_settled(&self, key: &RuleKey) -> bool {
        self.dismissed.contains(key) || self.rules.iter().any(|rule| rule.key() == *key)
    }

    /// The rules for mistakes that were made at least so often.
    pub fn suggestions(&self, occurrences: usize) -> Suggestions {
        suggest(&Learning {
            calls: &self.calls,
            rules: &self.rules,
            dismissed: &self.dismissed,
            occurrences,
        })
    }
}

pub fn proposal_json(proposal: &Proposal) -> Value {
    let mut value = serde_json::to_value(proposal).unwrap_or(Value::Null);
    value["key"] = json!(proposal.rule.kind.key());
    value
}

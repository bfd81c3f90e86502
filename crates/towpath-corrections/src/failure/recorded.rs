//! The rules that the recorded calls lead to.

use super::failure_query::{FailureQuery, recorded};
use super::{Learning, RecordedCall, Suggestions, suggest};
use crate::{Error, Rule, RuleKey, user_rules};
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
    pub fn read(store: Option<&Store>, query: &FailureQuery) -> Result<Recorded, Error> {
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

//! What a rule would have changed in all recorded calls, decided by the real [`correct`].

use super::calls_after_mistake::line_has;
use super::mistake::Mistake;
use super::recorded_call::RecordedCall;
use crate::correct_tool_call::correct;
use crate::correction::Correction;
use crate::rule::Rule;
use crate::rule_index::RuleIndex;
use serde::Serialize;
use std::collections::BTreeSet;

/// How many of the changed calls are shown.
const SHOWN: usize = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BackTest {
    /// Recorded calls that the rule would have changed or refused.
    pub changed: usize,
    /// Those of them that failed with the mistake.
    pub prevented: usize,
    /// Those of them that had succeeded.
    pub succeeded: usize,
    /// Those of them that would have become a call that is a mistake, too.
    pub mistaken: usize,
    /// Some of them, the mistaken ones first.
    pub examples: Vec<Change>,
}

/// A call before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    pub before: String,
    /// None where the rule refuses the call.
    pub after: Option<String>,
}

/// All recorded calls in the order of their time, each with its mistake.
pub(super) struct History<'a> {
    pub calls: Vec<(&'a RecordedCall, Option<Mistake>)>,
    mistaken_lines: BTreeSet<&'a str>,
}

impl<'a> History<'a> {
    pub fn new(calls: &'a [RecordedCall]) -> History<'a> {
        let mut sorted: Vec<&RecordedCall> = calls.iter().collect();
        sorted.sort_by_key(|call| call.at_ms);
        let calls: Vec<_> = sorted.into_iter().map(|call| (call, call.mistake())).collect();
        let mistaken = calls.iter().filter(|(_, mistake)| mistake.is_some());
        let mistaken_lines = mistaken.filter_map(|(call, _)| call.line()).collect();
        History { calls, mistaken_lines }
    }

    pub fn test(&self, rule: &Rule, mistake: &Mistake) -> BackTest {
        let index = RuleIndex::new(vec![rule.clone()]);
        let mut test = BackTest::default();
        let mut others = Vec::new();
        for (call, own) in &self.calls {
            let after = match correct(&call.call, &index) {
                Correction::Unchanged => continue,
                Correction::Rewritten(rewrite) => Some(rewrite.after),
                Correction::Denied(_) => None,
            };
            let prevented = own.as_ref() == Some(mistake);
            test.changed += 1;
            test.prevented += usize::from(prevented);
            test.succeeded += usize::from(!call.failed);
            let wrong = after.as_deref().is_some_and(|line| self.mistaken_lines.contains(line));
            test.mistaken += usize::from(wrong);
            let before = call.line().unwrap_or(&call.call.tool).to_owned();
            let list = if prevented { &mut test.examples } else { &mut others };
            let change = Change { before, after };
            if list.len() < SHOWN && !list.contains(&change) {
                list.push(change);
            }
        }
        test.examples.extend(others);
        test.examples.truncate(SHOWN);
        test
    }
}

impl History<'_> {
    /// Whether what was a mistake in one call was right in another one: with a plugin, an alias, or
    /// on a machine with another version of the program.
    pub fn worked(&self, mistake: &Mistake) -> bool {
        let succeeded = self.calls.iter().map(|(call, _)| call).filter(|call| !call.failed);
        let mut lines = succeeded.filter_map(|call| call.line());
        lines.any(|line| line_has(mistake, line))
    }
}

impl BackTest {
    /// Nothing that worked would be changed, and most of what failed would.
    pub fn is_good(&self, occurrences: usize) -> bool {
        self.succeeded == 0 && self.mistaken == 0 && self.prevented * 2 >= occurrences
    }
}

//! The hook as `dp` has it: Claude Code's dialect, but a tool that does not exist is refused with a
//! message and a status of its own.

use super::HookCall;
use super::before_call::{correct_call, decided};
use crate::hook_rules::HookRules;
use crate::host::Decision;
use crate::resolved::with_resolved_directories;
use crate::rule_book::RuleBook;
use crate::{Correction, Error, Rule, RuleKind};
use std::path::Path;

/// The output of `dp pave-check`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaveCheck {
    /// One JSON object, or nothing.
    pub stdout: String,
    /// The tool does not exist: this goes to stderr, and the status is 2.
    pub blocked: Option<String>,
}

impl HookCall<'_> {
    /// Answers from the rules of the user, or from those in another database.
    pub fn pave_check(&self, database: Option<&Path>) -> Result<PaveCheck, Error> {
        let rules = match database {
            None => self.rules(&self.payload.call)?,
            Some(path) => {
                let rules = with_resolved_directories(RuleBook::in_file(path)?.rules()?);
                HookRules { rules, ..HookRules::default() }
            }
        };
        let on_tools: Vec<u64> =
            rules.rules.iter().filter(|r| is_on_tool(r)).map(|r| r.number).collect();
        let corrected = correct_call(self, rules);
        let mut decision = decided(self, &corrected);
        if let (Correction::Denied(denial), Decision::Deny { reason }) =
            (&corrected.correction, &decision)
            && denial.rules.iter().all(|number| on_tools.contains(number))
        {
            return Ok(PaveCheck { stdout: String::new(), blocked: Some(reason.clone()) });
        }
        if let (Decision::Rewrite { context: Some(shown), .. }, Correction::Rewritten(rewrite)) =
            (&mut decision, &corrected.correction)
        {
            *shown = rewrite.context();
        }
        Ok(PaveCheck { stdout: self.payload.answer(&decision).stdout, blocked: None })
    }
}

fn is_on_tool(rule: &Rule) -> bool {
    matches!(rule.kind, RuleKind::ToolName { .. } | RuleKind::ToolRecipe { .. })
}

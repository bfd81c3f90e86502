//! The hook as `dp` has it: Claude Code's dialect, but a tool that does not exist is refused with a
//! message and a status of its own.

use super::before_call::{correct_call, decided};
use super::{HookCall, deadline, guarded, is_off, parse, read_stdin, report};
use crate::corrections::canonical_rule_directories::with_resolved_directories;
use crate::corrections::hook_rules_snapshot::HookRules;
use crate::corrections::user_rules_in_journal::RuleBook;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::CommandError;
use std::path::Path;
use towpath_corrections::host::{Decision, HookEvent, Host};
use towpath_corrections::{Correction, Rule, RuleKind};

/// What `dp pave-check` prints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PaveCheck {
    /// One JSON object, or nothing.
    pub stdout: String,
    /// The tool does not exist: this goes to stderr, and the status is 2.
    pub blocked: Option<String>,
}

/// Answers one call, from the rules of the user or from those in another database. What fails lets the
/// call run.
pub fn pave_check(invocation: &Invocation, database: Option<&Path>) -> PaveCheck {
    guarded(|| check(invocation, database).map_err(|error| error.message)).unwrap_or_else(
        |message| {
            report(invocation, "pave-check", &message);
            PaveCheck::default()
        },
    )
}

fn check(invocation: &Invocation, database: Option<&Path>) -> Result<PaveCheck, CommandError> {
    let payload = read_stdin()?;
    if is_off(invocation) {
        return Ok(PaveCheck::default());
    }
    deadline::watch(&payload, "pave-check".to_owned(), invocation);
    let payload = parse(HookEvent::Pre, Host::ClaudeCode, &payload)?;
    let call = HookCall::new(invocation.environment()?, payload);
    let rules = match database {
        None => call.rules(&call.payload.call)?,
        Some(path) => {
            let rules = with_resolved_directories(RuleBook::in_file(path)?.rules()?);
            HookRules { rules, ..HookRules::default() }
        }
    };
    let on_tools: Vec<u64> =
        rules.rules.iter().filter(|r| is_on_tool(r)).map(|r| r.number).collect();
    let corrected = correct_call(&call, rules);
    let mut decision = decided(&call, &corrected);
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
    Ok(PaveCheck { stdout: call.payload.answer(&decision).stdout, blocked: None })
}

fn is_on_tool(rule: &Rule) -> bool {
    matches!(rule.kind, RuleKind::ToolName { .. } | RuleKind::ToolRecipe { .. })
}

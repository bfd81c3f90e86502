//! After a call: it is recorded, and what ran is compared with what was rewritten.

use super::HookCall;
use super::before_call::session_lines;
use super::records::End;
use crate::failure::classify;
use crate::hook_log::record::HookRecord;
use crate::host::{Answer, Outcome};
use crate::session_lines::Ran;
use crate::{Correction, Denial, Error, RuleIndex, ToolCall, correct, host_state};

pub fn answer(call: &HookCall) -> Result<Answer, Error> {
    let mut records = Vec::new();
    let mut contexts: Vec<String> = Vec::new();
    compare(call, &mut records, &mut contexts);
    if let Some(outcome) = &call.payload.outcome {
        let tool_call = &call.payload.call;
        let end = End {
            failed: has_failed(tool_call, outcome),
            exit_code: outcome.exit_code,
            text: &outcome.text,
        };
        if end.failed && tool_call.shell.is_none() {
            contexts.extend(right_tool(call, tool_call)?.map(|denial| denial.reason));
        }
        let called = call.called(tool_call, call.payload.call_id.as_deref(), &end);
        records.push(HookRecord::Called(called));
    }
    call.append(&records);
    let context = (!contexts.is_empty()).then(|| contexts.join("\n"));
    Ok(call.payload.answer_after(context.as_deref()))
}

/// Where the host does not show how a call ended, only what a program prints about a command,
/// subcommand or option that does not exist is a failure for certain.
pub fn has_failed(call: &ToolCall, outcome: &Outcome) -> bool {
    outcome.failed.unwrap_or_else(|| {
        let command = call.command().map(|(_, command)| command);
        command.is_some_and(|c| classify(c, outcome.exit_code, &outcome.text).is_some())
    })
}

/// Compares what ran with what was written. Anything else counts as dropped: where two hooks write a
/// call, the host takes one of them.
pub fn compare(call: &HookCall, records: &mut Vec<HookRecord>, contexts: &mut Vec<String>) {
    let Some((_, ran)) = call.payload.call.command() else { return };
    let Some(session) = session_lines(call) else { return };
    let Some((line, what)) = session.ended(call.payload.call_id.as_deref(), ran) else { return };
    let (host, version) = (call.payload.host, call.version.as_deref());
    let honoured = what == Ran::Corrected;
    call.note(host_state::record(&call.directory, host, version, honoured));
    records.push(call.ran(&line.id, ran));
    call.note(session.end(&line));
    contexts.extend(match honoured {
        true => line.context,
        // It may have read that its command was corrected.
        false => Some(format!(
            "The correction was not used: another hook or the agent program ran `{}` instead.",
            call.masking().text(ran)
        )),
    });
}

/// What a rule has for a tool that does not exist.
pub fn right_tool(call: &HookCall, tool_call: &ToolCall) -> Result<Option<Denial>, Error> {
    let rules = call.rules(tool_call)?;
    if rules.rules.is_empty() || rules.paused.is_paused(call.at_ms) {
        return Ok(None);
    }
    match correct(tool_call, &RuleIndex::new(rules.rules)) {
        Correction::Denied(denial) => Ok(Some(denial)),
        _ => Ok(None),
    }
}

//! Before a call: whether it is corrected, and what the host is answered.

use super::HookCall;
use crate::hook_log::record::{CorrectedRecord, HookRecord, RecordedDecision};
use crate::hook_rules::HookRules;
use crate::host::{Answer, AnswerOptions, ContextChannel, Decision};
use crate::session_lines::{CallMark, ProducedLine, SessionLines};
use crate::{Correction, Error, Rewrite, RuleIndex, correct, host_state};

pub fn answer(call: &HookCall) -> Result<Answer, Error> {
    let rules = call.rules(&call.payload.call)?;
    let correction = correct_call(call, rules);
    Ok(call.payload.answer(&decided(call, &correction)))
}

/// A correction, with what it is answered by.
pub struct Corrected {
    pub correction: Correction,
    options: AnswerOptions,
    /// Set for another input, where the host names the session.
    session: Option<SessionLines>,
}

/// What the rules make of the call. A line that this call has from us already is left alone.
pub fn correct_call(call: &HookCall, rules: HookRules) -> Corrected {
    let mut options = AnswerOptions {
        permission: rules.permission,
        mode: rules.mode,
        ..AnswerOptions::default()
    };
    let unchanged = Corrected { correction: Correction::Unchanged, options, session: None };
    if rules.rules.is_empty() || rules.paused.is_paused(call.at_ms) {
        return unchanged;
    }
    let correction = correct(&call.payload.call, &RuleIndex::new(rules.rules));
    let mut session = None;
    if let Correction::Rewritten(rewrite) = &correction {
        session = session_lines(call);
        let ours = session.as_ref().map(|s| s.is_from_us(&rewrite.before, &mark(call)));
        if ours.and_then(|ours| call.note(ours)) == Some(true) {
            return unchanged;
        }
        let (host, version) = (call.payload.host, call.version.as_deref());
        options.drops_rewrites = host_state::drops_rewrites(&call.directory, host, version);
    }
    Corrected { correction, options, session }
}

/// Decides, and records the decision.
pub fn decided(call: &HookCall, corrected: &Corrected) -> Decision {
    let Corrected { correction, options, session } = corrected;
    let decision = call.payload.decide(correction, options);
    match correction {
        Correction::Unchanged => {}
        Correction::Denied(denial) => {
            let text = call.payload.call.command().map_or(&*call.payload.call.tool, |(_, c)| c);
            let record = call.corrected(denial.rules.clone(), text, "", recorded(&decision, ""));
            call.append(&[HookRecord::Corrected(record)]);
        }
        Correction::Rewritten(rewrite) => {
            let rules = rewrite.applied.iter().map(|applied| applied.rule).collect();
            let how = recorded(&decision, &rewrite.after);
            let record = call.corrected(rules, &rewrite.before, &rewrite.after, how);
            if let Some(session) = session {
                remember(call, session, rewrite, &record);
            }
            call.append(&[HookRecord::Corrected(record)]);
        }
    }
    decision
}

fn recorded(decision: &Decision, after: &str) -> RecordedDecision {
    match decision {
        Decision::Rewrite { allow: true, .. } => RecordedDecision::Allowed,
        Decision::Rewrite { .. } => RecordedDecision::Rewritten,
        Decision::Deny { .. } if after.is_empty() => RecordedDecision::Denied,
        Decision::Deny { .. } => RecordedDecision::Suggested,
        Decision::Pass | Decision::Report { .. } => RecordedDecision::Reported,
    }
}

/// Keeps the line that this session got, for the hook that sees it again or after it ran.
fn remember(call: &HookCall, session: &SessionLines, rewrite: &Rewrite, record: &CorrectedRecord) {
    let rewritten = match record.decision {
        RecordedDecision::Rewritten | RecordedDecision::Allowed => true,
        RecordedDecision::Suggested => false,
        RecordedDecision::Denied | RecordedDecision::Reported => return,
    };
    let later = call.payload.host.capabilities().context == ContextChannel::After;
    let context = (later && rewritten).then(|| call.masking().text(&rewrite.explanation()));
    let (id, by) = (&record.origin.id, mark(call));
    let mut line = ProducedLine::new(id, by, &rewrite.before, &rewrite.after);
    line.rewritten = rewritten;
    line.context = context;
    call.note(session.add(line));
}

fn mark(call: &HookCall) -> CallMark {
    CallMark { call: call.payload.call_id.clone(), at_ms: call.at_ms }
}

/// `None` where the host does not name the session.
pub fn session_lines(call: &HookCall) -> Option<SessionLines> {
    let session = call.payload.session.as_deref()?;
    Some(SessionLines::open(&call.directory, call.payload.host, session))
}

//! A correction as users and programs see it: the text before and after, with what was changed in
//! colour, and the rules that did it.

use crate::terminal::format::clean;
use crate::terminal::screen::{Screen, Tint};
use serde_json::{Value, json};
use std::ops::Range;
use towpath_corrections::host::{Decision, Host};
use towpath_corrections::{Correction, Denial, Rewrite, ToolCall};

/// The lines to print. Nothing is shortened: it is the exact text that counts.
pub fn correction_lines(call: &ToolCall, correction: &Correction, screen: &Screen) -> Vec<String> {
    match correction {
        Correction::Unchanged => vec![format!("  no rule changes {}", subject(call))],
        Correction::Rewritten(rewrite) => rewritten(rewrite, screen),
        Correction::Denied(denial) => denied(call, denial, screen),
    }
}

fn rewritten(rewrite: &Rewrite, screen: &Screen) -> Vec<String> {
    let removed: Vec<Range<usize>> = rewrite.edits.iter().map(|edit| edit.range.clone()).collect();
    let mut lines = marked("-", &rewrite.before, &removed, Tint::Bad, screen);
    lines.extend(marked("+", &rewrite.after, &written(rewrite), Tint::Good, screen));
    for applied in &rewrite.applied {
        let message =
            applied.message.as_ref().map_or(String::new(), |m| format!(" ({})", clean(m)));
        lines.push(format!("  rule {}: {}{message}", applied.rule, clean(&applied.description)));
    }
    let dropped: Vec<&str> =
        rewrite.applied.iter().flat_map(|a| &a.dropped).map(String::as_str).collect();
    if !dropped.is_empty() {
        lines.push(format!("  dropped: {}", clean(&dropped.join(" "))));
    }
    lines
}

/// What the host makes of a corrected call. A refused one is described already.
pub fn decision_line(decision: &Decision, correction: &Correction, host: Host) -> Option<String> {
    let Correction::Rewritten(rewrite) = correction else {
        return matches!(decision, Decision::Report { .. }).then(|| REPORTED.to_owned());
    };
    Some(match decision {
        Decision::Rewrite { allow: true, .. } if rewrite.vouched => {
            "permission: allowed, because every word of it was written by a rule".to_owned()
        }
        Decision::Rewrite { allow: true, .. } => {
            "permission: allowed by your setting corrections.permission".to_owned()
        }
        Decision::Rewrite { allow: false, .. } => {
            format!("permission: {} decides, as for any other command", host.name())
        }
        Decision::Deny { .. } => {
            format!("{}: denied, with the corrected command as the reason", host.name())
        }
        Decision::Report { .. } => REPORTED.to_owned(),
        Decision::Pass => return None,
    })
}

const REPORTED: &str = "only reported, by your setting corrections.mode";

fn denied(call: &ToolCall, denial: &Denial, screen: &Screen) -> Vec<String> {
    let text = command(call).unwrap_or(&call.tool);
    let all = 0..text.len();
    let mut lines = marked("-", text, std::slice::from_ref(&all), Tint::Bad, screen);
    let numbers: Vec<String> = denial.rules.iter().map(u64::to_string).collect();
    let rules = if numbers.len() == 1 { "rule" } else { "rules" };
    let numbers = numbers.join(", ");
    // The reason of a command names it as refused.
    let by = if command(call).is_some() { rules.to_owned() } else { format!("refused by {rules}") };
    lines.push(format!("  {by} {numbers}: {}", clean(&denial.reason)));
    lines
}

/// The ranges of the result that were written by rules.
fn written(rewrite: &Rewrite) -> Vec<Range<usize>> {
    let (mut grown, mut shrunk) = (0, 0);
    let mut ranges = Vec::new();
    for edit in &rewrite.edits {
        let start = edit.range.start + grown - shrunk;
        ranges.push(start..start + edit.text.len());
        grown += edit.text.len();
        shrunk += edit.range.len();
    }
    ranges
}

/// The lines of a text behind a mark, with the ranges painted.
fn marked(
    mark: &str,
    text: &str,
    ranges: &[Range<usize>],
    tint: Tint,
    screen: &Screen,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let mut shown = String::new();
        let mut at = start;
        let end = start + line.len();
        for range in ranges {
            let (from, to) = (range.start.clamp(at, end), range.end.clamp(at, end));
            shown.push_str(&clean(&text[at..from]));
            shown.push_str(&screen.paint(tint, &clean(&text[from..to])));
            at = to;
        }
        shown.push_str(&clean(&text[at..end]));
        lines.push(format!("  {} {shown}", screen.paint(tint, mark)));
        start = end + 1;
    }
    lines
}

fn subject(call: &ToolCall) -> String {
    match &call.shell {
        Some(_) => "this command".to_owned(),
        None => format!("a call of {}", clean(&call.tool)),
    }
}

/// The command of a call, if its tool is the shell.
fn command(call: &ToolCall) -> Option<&str> {
    call.input.get(&call.shell.as_ref()?.command)?.as_str()
}

pub fn correction_json(call: &ToolCall, correction: &Correction) -> Value {
    let mut fields = json!({
        "schema": 1,
        "host": call.host,
        "tool": call.tool,
        "before": command(call),
    });
    let more = match correction {
        Correction::Unchanged => json!({ "decision": "unchanged" }),
        Correction::Rewritten(rewrite) => json!({
            "decision": "rewritten",
            "before": rewrite.before,
            "after": rewrite.after,
            "input": rewrite.input,
            "rules": rewrite.applied,
            "edits": rewrite.edits,
            "vouched": rewrite.vouched,
            "context": rewrite.context(),
        }),
        Correction::Denied(denial) => json!({
            "decision": "denied",
            "rules": denial.rules,
            "reason": denial.reason,
        }),
    };
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    fields
}

//! Reads what OpenCode prints. A call has succeeded when its last step finished because the model
//! stopped and no error line came, whatever becomes of the process after it; the answer is the text of
//! that step alone. Unknown lines are passed over.

use super::fault;
use crate::activity_line;
use crate::backend::Reader;
use crate::call_progress::CallProgress;
use crate::json_access::{count_at, text_at};
use crate::program_exit::End;
use crate::reply::{CallFault, Reply};
use crate::tool_details;
use serde_json::Value;
use towpath_core::{FaultKind, SessionId, Usage};

/// The text of a refused tool use; there is no field for it.
const REFUSED: &str = "The user rejected permission to use this specific tool call";

#[derive(Debug, Default)]
pub(super) struct OpenCodeReader {
    session: Option<SessionId>,
    /// The text of the step that runs, or ran last.
    text: String,
    /// Why the last step ended; `None` while one runs.
    finish: Option<String>,
    usage: Option<Usage>,
    /// The last error line.
    error: Option<Value>,
    denials: Vec<String>,
}

impl Reader for OpenCodeReader {
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress> {
        let mut progress = Vec::new();
        let Ok(event) = serde_json::from_slice::<Value>(line) else { return progress };
        progress.extend(CallProgress::session(&mut self.session, text_at(&event, "/sessionID")));
        match text_at(&event, "/type") {
            Some("step_start") => {
                // A stream that broke left half of its text: the step that repeats it begins again.
                self.text.clear();
                self.finish = None;
            }
            Some("text") => self.text_part(&event, &mut progress),
            Some("tool_use") => self.tool(&event, &mut progress),
            Some("step_finish") => self.finished(&event, &mut progress),
            Some("error") => self.error = Some(event),
            _ => {}
        }
        progress
    }

    fn end(self: Box<Self>, end: &End<'_>) -> Reply {
        let result = self.judge(end);
        Reply { usage: self.usage, denials: self.denials, ..Reply::new(result, self.session) }
    }
}

impl OpenCodeReader {
    fn text_part(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let Some(text) = text_at(event, "/part/text") else { return };
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        progress.extend(CallProgress::message(text));
    }

    fn tool(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let name = text_at(event, "/part/tool").unwrap_or("tool");
        let input = event.pointer("/part/state/input").unwrap_or(&Value::Null);
        if text_at(event, "/part/state/error").is_some_and(|why| why.starts_with(REFUSED)) {
            self.denials.push(activity_line::tool_use(name, input));
        }
        progress.extend(tool_details::tool_use(name, input));
    }

    fn finished(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let reason = text_at(event, "/part/reason").unwrap_or("unknown");
        self.finish = Some(reason.to_owned());
        self.usage = Some(plus(self.usage, of_step(event)));
        if reason == "stop" {
            progress.push(CallProgress::Complete);
        }
    }

    fn judge(&self, end: &End<'_>) -> Result<String, CallFault> {
        if let Some(error) = &self.error {
            return Err(fault::of_error(error, end.at_ms));
        }
        match self.finish.as_deref() {
            Some("stop") => Ok(self.text.clone()),
            // The run ends at a refusal, and the same call would end there again.
            Some("tool-calls") if !self.denials.is_empty() => Err(CallFault::new(
                FaultKind::BadRequest,
                format!("OpenCode was not permitted: {}", self.denials.join("; ")),
            )),
            Some("length" | "content-filter") if end.exit.success() => Err(CallFault::new(
                FaultKind::BadRequest,
                "OpenCode's model stopped early: its answer was too long or was filtered",
            )),
            _ => Err(fault::no_end(end)),
        }
    }
}

const INPUT: &[&str] =
    &["/part/tokens/input", "/part/tokens/cache/read", "/part/tokens/cache/write"];
const OUTPUT: &[&str] = &["/part/tokens/output", "/part/tokens/reasoning"];

/// What one step used. The program counts what was cached and what was only thought apart; here
/// input is all that the model read, and output all that it wrote.
fn of_step(event: &Value) -> Usage {
    let sum = |fields: &[&str]| {
        let counts = fields.iter().filter_map(|at| count_at(event, at));
        counts.reduce(u64::saturating_add)
    };
    let (input_tokens, output_tokens) = (sum(INPUT), sum(OUTPUT));
    let used = input_tokens.unwrap_or(0) > 0 || output_tokens.unwrap_or(0) > 0;
    let cost = event.pointer("/part/cost").and_then(Value::as_f64);
    // A model whose price the program does not know costs 0 there.
    let known = |cost: &f64| cost.is_finite() && (*cost > 0.0 || *cost == 0.0 && !used);
    Usage { input_tokens, output_tokens, cost_usd: cost.filter(known) }
}

/// A sum over steps; what one of them did not report is unknown for all.
fn plus(sum: Option<Usage>, step: Usage) -> Usage {
    let Some(sum) = sum else { return step };
    let tokens = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
    Usage {
        input_tokens: tokens(sum.input_tokens, step.input_tokens),
        output_tokens: tokens(sum.output_tokens, step.output_tokens),
        cost_usd: sum.cost_usd.zip(step.cost_usd).map(|(a, b)| a + b),
    }
}

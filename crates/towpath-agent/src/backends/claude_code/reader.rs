//! Reads what Claude Code prints: one object a line, and also the single object or array that its
//! other output format and older versions print, in one line or many. Unknown lines are passed
//! over; only a `result` ends a call well, whatever becomes of the process after it.

use super::fault::{self, Heard};
use super::usage;
use crate::activity_line;
use crate::backend::Reader;
use crate::call_progress::CallProgress;
use crate::json_access::text_at;
use crate::program_exit::End;
use crate::reply::{CallFault, Reply};
use crate::tool_details;
use serde_json::Value;
use towpath_core::{FaultKind, SessionId, Usage};

/// How much unreadable output is kept, in the hope that it is one value over many lines.
const LARGEST_REST: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    session: Option<SessionId>,
    heard: Heard,
    /// The last `result` object.
    result: Option<Value>,
    usage: Option<Usage>,
    rest: Vec<u8>,
}

impl Reader for ClaudeReader {
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress> {
        let mut progress = Vec::new();
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if is_event(&value) => self.event(value, &mut progress),
            Ok(Value::Array(events)) if events.iter().any(is_event) => {
                for event in events {
                    self.event(event, &mut progress);
                }
            }
            _ => self.keep(line),
        }
        progress
    }

    fn end(mut self: Box<Self>, end: &End<'_>) -> Reply {
        if self.result.is_none() {
            self.read_rest();
        }
        let denials = self.result.as_ref().map(denials).unwrap_or_default();
        let result = match &self.result {
            None => Err(no_result(end)),
            Some(result) => self.judge(result, end),
        };
        Reply { usage: self.usage, denials, ..Reply::new(result, self.session) }
    }
}

impl ClaudeReader {
    fn event(&mut self, event: Value, progress: &mut Vec<CallProgress>) {
        progress.extend(CallProgress::session(&mut self.session, text_at(&event, "/session_id")));
        match event.get("type").and_then(Value::as_str) {
            Some("assistant") => self.assistant(&event, progress),
            Some("system") if event.get("subtype").is_some_and(|s| s == "init") => {
                progress.extend(CallProgress::model(&event));
            }
            Some("rate_limit_event") => {
                self.heard.limit(event.get("rate_limit_info").unwrap_or(&Value::Null));
            }
            Some("system") if event.get("subtype").is_some_and(|s| s == "api_retry") => {
                progress.push(CallProgress::Retrying(activity_line::retry(&event)));
            }
            Some("result") => {
                self.usage = usage::add(self.usage, &event);
                self.result = Some(event);
                progress.push(CallProgress::Complete);
            }
            _ => {}
        }
    }

    fn assistant(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let of_subagent = event.get("parent_tool_use_id").is_some_and(|id| !id.is_null());
        if !of_subagent {
            self.heard.assistant(event);
        }
        let blocks = event.pointer("/message/content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            let field = |name: &str| block.get(name).and_then(Value::as_str);
            match field("type") {
                Some("tool_use") => {
                    let input = block.get("input").unwrap_or(&Value::Null);
                    progress.extend(tool_details::tool_use(field("name").unwrap_or("tool"), input));
                }
                Some("text") => progress.extend(field("text").and_then(CallProgress::message)),
                _ => {}
            }
        }
    }

    fn keep(&mut self, line: &[u8]) {
        if self.rest.len().saturating_add(line.len()) < LARGEST_REST {
            self.rest.extend_from_slice(line);
            self.rest.push(b'\n');
        }
    }

    fn read_rest(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        let values = serde_json::Deserializer::from_slice(&rest).into_iter::<Value>();
        for value in values.map_while(Result::ok) {
            let events = match value {
                Value::Array(events) => events,
                one => vec![one],
            };
            for event in events {
                self.event(event, &mut Vec::new());
            }
        }
    }

    /// `is_error` false, and the program's word that the answer is whole or its exit code 0: nothing
    /// weaker is a success. A mode that a gateway does not support ends with 1 and no such word.
    fn judge(&self, result: &Value, end: &End<'_>) -> Result<String, CallFault> {
        let answer = result.get("result").and_then(Value::as_str).unwrap_or("");
        let crash = |what: &str, answer| {
            Err(CallFault::with_first(FaultKind::Crash, what, &[end.stderr, answer]))
        };
        // Older versions have no such word.
        let whole = text_at(result, "/terminal_reason").is_none_or(|word| word == "completed");
        match result.get("is_error").and_then(Value::as_bool) {
            Some(true) => Err(self.heard.fault(result)),
            Some(false) if whole || end.exit.success() => Ok(answer.to_owned()),
            Some(false) => crash(&format!("Claude Code {}", end.exit), answer),
            None => crash("Claude Code's result has no `is_error` that is true or false", ""),
        }
    }
}

fn is_event(value: &Value) -> bool {
    value.get("type").is_some_and(Value::is_string)
}

fn denials(result: &Value) -> Vec<String> {
    let list = result.get("permission_denials").and_then(Value::as_array);
    let one = |denial: &Value| {
        let name = denial.get("tool_name").and_then(Value::as_str).unwrap_or("tool");
        activity_line::tool_use(name, denial.get("tool_input").unwrap_or(&Value::Null))
    };
    list.into_iter().flatten().map(one).collect()
}

/// A program that refuses its arguments prints that on standard error alone.
fn no_result(end: &End<'_>) -> CallFault {
    let kind = fault::by_refusal(end.stderr).unwrap_or(FaultKind::Crash);
    let what = format!("Claude Code {} and gave no result", end.exit);
    CallFault::with_first(kind, &what, &[&fault::advised(end.stderr)])
}

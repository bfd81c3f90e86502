//! Reads what Cursor's agent prints, following its documentation. A `result` line that is no error is a
//! success, however the process ends afterwards. Failures promise no JSON: standard error is shown,
//! and judged only by the code word in brackets or the fixed sentence it begins with.

use crate::backend::Reader;
use crate::call_progress::CallProgress;
use crate::json_access::text_at;
use crate::program_exit::End;
use crate::reply::{CallFault, Reply};
use crate::strip_colours::plain;
use crate::tool_details;
use serde_json::Value;
use towpath_core::{FaultKind, SessionId};

#[derive(Debug, Default)]
pub(super) struct CursorReader {
    session: Option<SessionId>,
    /// What was written since the last tool use.
    last: String,
    result: Option<Value>,
}

impl Reader for CursorReader {
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress> {
        let mut progress = Vec::new();
        let Ok(event) = serde_json::from_slice::<Value>(line) else { return progress };
        progress.extend(CallProgress::session(&mut self.session, text_at(&event, "/session_id")));
        match text_at(&event, "/type") {
            Some("system") => progress.extend(CallProgress::model(&event)),
            Some("assistant") => self.assistant(&event, &mut progress),
            Some("tool_call") => {
                self.last.clear();
                if text_at(&event, "/subtype") == Some("started") {
                    tool(&event, &mut progress);
                }
            }
            Some("result") => {
                self.result = Some(event);
                progress.push(CallProgress::Complete);
            }
            _ => {}
        }
        progress
    }

    fn end(self: Box<Self>, end: &End<'_>) -> Reply {
        let result = match &self.result {
            Some(result) => self.judge(result),
            None => Err(no_result(end)),
        };
        Reply::new(result, self.session)
    }
}

impl CursorReader {
    fn assistant(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let blocks = event.pointer("/message/content").and_then(Value::as_array);
        for text in blocks.into_iter().flatten().filter_map(|block| text_at(block, "/text")) {
            self.last.push_str(text);
            progress.extend(CallProgress::message(text));
        }
    }

    fn judge(&self, result: &Value) -> Result<String, CallFault> {
        let answer = text_at(result, "/result").unwrap_or("");
        match result.get("is_error").and_then(Value::as_bool) {
            // The result is documented as all that was written; only the last message is the answer.
            Some(false) if !self.last.is_empty() && answer.ends_with(&self.last) => {
                Ok(self.last.clone())
            }
            Some(false) => Ok(answer.to_owned()),
            Some(true) => {
                let why = text_at(result, "/error").unwrap_or(answer);
                Err(CallFault::with_first(
                    by_word(why).unwrap_or(FaultKind::Crash),
                    "Cursor reported an error",
                    &[why],
                ))
            }
            None => Err(CallFault::new(
                FaultKind::Crash,
                "Cursor's result has no `is_error` that is true or false",
            )),
        }
    }
}

/// `{"shellToolCall": {"args": {"command": …}}}`: `shell cargo tree`.
fn tool(event: &Value, progress: &mut Vec<CallProgress>) {
    let call = event.get("tool_call").and_then(Value::as_object);
    let (name, call) =
        call.and_then(|call| call.iter().next()).map_or(("tool", &Value::Null), |(n, c)| (n, c));
    let name = name.strip_suffix("ToolCall").unwrap_or(name);
    progress.extend(tool_details::tool_use(name, call.get("args").unwrap_or(&Value::Null)));
}

fn no_result(end: &End<'_>) -> CallFault {
    let stderr = plain(end.stderr);
    let kind = stderr.lines().find_map(by_word).unwrap_or(FaultKind::Crash);
    CallFault::with_first(kind, &format!("Cursor {} and gave no result", end.exit), &[&stderr])
}

/// By the service's code word (`[resource_exhausted]`), or a sentence the program begins with.
fn by_word(line: &str) -> Option<FaultKind> {
    const WORDS: &[(&str, FaultKind)] = &[
        ("[unauthenticated]", FaultKind::Auth),
        ("[permission_denied]", FaultKind::Auth),
        ("[resource_exhausted]", FaultKind::Limit),
        ("[unavailable]", FaultKind::Overloaded),
        ("[deadline_exceeded]", FaultKind::Overloaded),
        ("[internal]", FaultKind::Overloaded),
        ("[invalid_argument]", FaultKind::BadRequest),
        ("[failed_precondition]", FaultKind::BadRequest),
        ("Authentication required", FaultKind::Auth),
        ("Not logged in", FaultKind::Auth),
        ("Not authenticated", FaultKind::Auth),
    ];
    let line = line.trim_start();
    let line = line
        .strip_prefix("Error: ")
        .or_else(|| line.strip_prefix("ConnectError: "))
        .unwrap_or(line);
    WORDS.iter().find(|(word, _)| line.starts_with(word)).map(|(_, kind)| *kind)
}

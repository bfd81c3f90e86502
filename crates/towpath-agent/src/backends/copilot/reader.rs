//! Reads what Copilot prints. Only a `result` line with exit code 0 is a success, whatever becomes of
//! the process after it: ended by a signal the program exits with 0 too, without that line. The
//! answer is the last message of the main agent. Unknown lines are passed over.

use super::fault;
use super::usage;
use crate::activity_line;
use crate::backend::Reader;
use crate::call_progress::CallProgress;
use crate::json_access::text_at;
use crate::program_exit::End;
use crate::reply::{CallFault, Reply};
use crate::tool_details;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use towpath_core::SessionId;

#[derive(Debug, Default)]
pub(super) struct CopilotReader {
    session: Option<SessionId>,
    /// The main agent's last message, unless it was followed by tool uses.
    text: Option<String>,
    retries: u32,
    /// What tool uses that run now do, by the id of their call.
    tools: BTreeMap<String, String>,
    denials: Vec<String>,
    /// The last `session.error`.
    error: Option<Value>,
    /// The `result` line.
    result: Option<Value>,
}

impl Reader for CopilotReader {
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress> {
        let mut progress = Vec::new();
        let Ok(event) = serde_json::from_slice::<Value>(line) else { return progress };
        match text_at(&event, "/type") {
            Some("assistant.message") => self.message(&event, &mut progress),
            Some("assistant.turn_retry") => self.retry(&event, &mut progress),
            Some("tool.execution_start") => self.tool_start(&event, &mut progress),
            Some("tool.execution_complete") => self.tool_end(&event),
            Some("session.error") => self.error = Some(event),
            Some("result") => {
                progress.extend(CallProgress::session(
                    &mut self.session,
                    text_at(&event, "/sessionId"),
                ));
                self.result = Some(event);
                progress.push(CallProgress::Complete);
            }
            _ => {}
        }
        progress
    }

    fn end(self: Box<Self>, end: &End<'_>) -> Reply {
        let result = self.judge(end);
        Reply {
            session_total: end.file(usage::FILE).and_then(usage::total),
            denials: self.denials,
            ..Reply::new(result, self.session)
        }
    }
}

impl CopilotReader {
    fn message(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let content = text_at(event, "/data/content").unwrap_or("");
        progress.extend(CallProgress::message(content));
        if of_subagent(event) {
            return;
        }
        self.retries = 0;
        let requests = event.pointer("/data/toolRequests").and_then(Value::as_array);
        let last = requests.is_none_or(Vec::is_empty);
        self.text = last.then(|| content.to_owned());
    }

    fn retry(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        self.retries = self.retries.saturating_add(1);
        let reason = text_at(event, "/data/reason").unwrap_or("error");
        let attempt = self.retries.saturating_add(1);
        progress.push(CallProgress::Retrying(activity_line::retry(
            &json!({"error": reason, "attempt": attempt}),
        )));
    }

    fn tool_start(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let name = text_at(event, "/data/toolName").unwrap_or("tool");
        let input = event.pointer("/data/arguments").unwrap_or(&Value::Null);
        if let Some(id) = text_at(event, "/data/toolCallId") {
            self.tools.insert(id.to_owned(), activity_line::tool_use(name, input));
        }
        progress.extend(tool_details::tool_use(name, input));
    }

    fn tool_end(&mut self, event: &Value) {
        let tool_use = text_at(event, "/data/toolCallId").and_then(|id| self.tools.remove(id));
        if text_at(event, "/data/error/code") == Some("denied") {
            self.denials.push(tool_use.unwrap_or_else(|| "tool".into()));
        }
    }

    fn judge(&self, end: &End<'_>) -> Result<String, CallFault> {
        let Some(result) = &self.result else { return Err(fault::no_result(end)) };
        let code = result.get("exitCode").and_then(Value::as_i64);
        match &self.error {
            // Interrupted in a tool, it may report success without an answer.
            _ if code == Some(0) && (self.text.is_some() || !end.interrupted) => {
                Ok(self.text.clone().unwrap_or_default())
            }
            Some(error) => Err(fault::of_error(error)),
            None => Err(fault::ended(end)),
        }
    }
}

/// Messages of agents that the main one started.
fn of_subagent(event: &Value) -> bool {
    text_at(event, "/agentId").is_some() || text_at(event, "/data/parentToolCallId").is_some()
}

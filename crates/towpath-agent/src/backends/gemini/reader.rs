//! Reads what Gemini CLI prints. Only a `result` line that reports success counts as one, whatever becomes of
//! the process after it: ended by a signal the program exits with 0 too, without that line. The answer is
//! what the agent wrote after its last tool use. Unknown lines are passed over.

use super::fault;
use crate::activity_line;
use crate::backend::Reader;
use crate::call_progress::CallProgress;
use crate::json_access::{text_at, tokens};
use crate::program_exit::End;
use crate::reply::{CallFault, Reply};
use crate::tool_details;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use towpath_core::{SessionId, Usage};

/// Words for a tool use that the mode or a policy did not allow. A tool that a mode rules out is not
/// there for the program.
const DENIED: &[&str] = &["policy_violation", "tool_not_registered"];

#[derive(Debug, Default)]
pub(super) struct GeminiReader {
    session: Option<SessionId>,
    /// What was written since the last tool use; it comes in pieces. A piece that a broken stream
    /// left cannot be distinguished from the answer that followed it.
    answer: String,
    /// The tool uses under way, by their id, in words.
    tools: BTreeMap<String, String>,
    denials: Vec<String>,
    result: Option<Value>,
    usage: Option<Usage>,
}

impl GeminiReader {
    fn message(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        if text_at(event, "/role") != Some("assistant") {
            return;
        }
        let piece = text_at(event, "/content").unwrap_or("");
        // A message that comes whole replaces the pieces before it.
        if event.get("delta") != Some(&json!(true)) {
            self.answer.clear();
        }
        self.answer.push_str(piece);
        let line_begins = self.answer.rfind('\n').map_or(0, |at| at + 1);
        let line = activity_line::last_line(&self.answer[line_begins..]);
        progress
            .extend(line.or_else(|| activity_line::last_line(piece)).map(CallProgress::Writing));
    }

    /// What was written is a whole message once something else follows.
    fn message_over(&mut self, progress: &mut Vec<CallProgress>) {
        progress.extend(CallProgress::message(&std::mem::take(&mut self.answer)));
    }

    fn tool_use(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        self.message_over(progress);
        let name = text_at(event, "/tool_name").unwrap_or("tool");
        let input = event.get("parameters").unwrap_or(&Value::Null);
        if let Some(id) = text_at(event, "/tool_id") {
            self.tools.insert(id.to_owned(), activity_line::tool_use(name, input));
        }
        progress.extend(tool_details::tool_use(name, input));
    }

    fn tool_result(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        self.message_over(progress);
        let words = text_at(event, "/tool_id").and_then(|id| self.tools.remove(id));
        if text_at(event, "/error/type").is_some_and(|word| DENIED.contains(&word)) {
            self.denials.push(words.unwrap_or_else(|| "tool".to_owned()));
        }
    }

    fn judge(&self, end: &End<'_>) -> Result<String, CallFault> {
        match &self.result {
            None => Err(fault::no_result(end)),
            Some(result) => match text_at(result, "/status") {
                Some("success") => Ok(self.answer.clone()),
                _ => Err(fault::of_result(result, end)),
            },
        }
    }
}

impl Reader for GeminiReader {
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress> {
        let mut progress = Vec::new();
        let Ok(event) = serde_json::from_slice::<Value>(line) else { return progress };
        match text_at(&event, "/type") {
            Some("init") => {
                progress.extend(CallProgress::session(
                    &mut self.session,
                    text_at(&event, "/session_id"),
                ));
                progress.extend(CallProgress::model(&event));
            }
            Some("message") => self.message(&event, &mut progress),
            Some("tool_use") => self.tool_use(&event, &mut progress),
            Some("tool_result") => self.tool_result(&event, &mut progress),
            // A warning; an error that ends the call is in the result.
            Some("error") => {
                let line = text_at(&event, "/message").and_then(activity_line::last_line);
                progress.extend(line.map(CallProgress::Doing));
            }
            Some("result") => {
                self.usage = event.get("stats").and_then(tokens);
                self.result = Some(event);
                progress.extend(CallProgress::message(&self.answer));
                progress.push(CallProgress::Complete);
            }
            _ => {}
        }
        progress
    }

    fn end(self: Box<Self>, end: &End<'_>) -> Reply {
        let result = self.judge(end);
        Reply { usage: self.usage, denials: self.denials, ..Reply::new(result, self.session) }
    }
}

//! Reads what Codex prints. Only `turn.completed` is a success, whatever becomes of the process after
//! it; the answer is the turn's last message. An `error` line is not the end: the program prints one for
//! each retry too. Unknown lines are passed over.

use super::fault;
use crate::activity_line;
use crate::backend::Reader;
use crate::call_progress::CallProgress;
use crate::json_access::{text_at, tokens};
use crate::program_exit::End;
use crate::reply::{CallFault, Reply};
use jiff::tz::TimeZone;
use serde_json::Value;
use towpath_core::{SessionId, Usage};

#[derive(Debug)]
pub(super) struct CodexReader {
    zone: TimeZone,
    session: Option<SessionId>,
    /// The last message of the agent.
    message: String,
    turn: Turn,
    /// The last error line, for an end without a reason.
    error: String,
    total: Option<Usage>,
}

#[derive(Debug)]
enum Turn {
    Open,
    Completed,
    Failed(String),
}

impl CodexReader {
    pub(super) fn new(zone: TimeZone) -> CodexReader {
        CodexReader {
            zone,
            session: None,
            message: String::new(),
            turn: Turn::Open,
            error: String::new(),
            total: None,
        }
    }

    fn item(&mut self, event: &Value, progress: &mut Vec<CallProgress>) {
        let Some(item) = event.get("item") else { return };
        let completed = text_at(event, "/type") == Some("item.completed");
        let on = |name: &str, at: &str| {
            Some(CallProgress::Doing(activity_line::tool(name, text_at(item, at).unwrap_or(""))))
        };
        progress.extend(match text_at(item, "/type") {
            Some("agent_message") if completed => {
                self.message = text_at(item, "/text").unwrap_or("").to_owned();
                CallProgress::message(&self.message)
            }
            Some("command_execution") if !completed => {
                let command = text_at(item, "/command").unwrap_or("");
                Some(CallProgress::Doing(activity_line::tool("Bash", bare_command(command))))
            }
            Some("file_change") if !completed => on("Edit", "/changes/0/path"),
            Some("mcp_tool_call") if !completed => on("MCP", "/tool"),
            Some("web_search") if !completed => on("Search", "/query"),
            _ => None,
        });
    }

    fn judge(&self, end: &End<'_>) -> Result<String, CallFault> {
        match &self.turn {
            Turn::Completed => Ok(self.message.clone()),
            Turn::Failed(message) => Err(fault::of_turn(message, end.at_ms, &self.zone)),
            Turn::Open => Err(fault::no_turn(end, &self.error)),
        }
    }
}

impl Reader for CodexReader {
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress> {
        let mut progress = Vec::new();
        let Ok(event) = serde_json::from_slice::<Value>(line) else { return progress };
        match text_at(&event, "/type") {
            Some("thread.started") => {
                progress.extend(CallProgress::session(
                    &mut self.session,
                    text_at(&event, "/thread_id"),
                ));
            }
            Some("turn.started") => self.turn = Turn::Open,
            Some("item.started" | "item.completed") => self.item(&event, &mut progress),
            Some("error") => {
                self.error = text_at(&event, "/message").unwrap_or("").to_owned();
                let retry = activity_line::last_line(&self.error);
                progress.extend(
                    retry.filter(|r| r.starts_with("Reconnecting")).map(CallProgress::Retrying),
                );
            }
            Some("turn.completed") => {
                self.turn = Turn::Completed;
                self.total = event.get("usage").and_then(tokens).or(self.total);
                progress.push(CallProgress::Complete);
            }
            Some("turn.failed") => {
                let message = text_at(&event, "/error/message").unwrap_or(&self.error);
                self.turn = Turn::Failed(message.to_owned());
                progress.push(CallProgress::Complete);
            }
            _ => {}
        }
        progress
    }

    fn end(self: Box<Self>, end: &End<'_>) -> Reply {
        let result = self.judge(end);
        Reply { session_total: self.total, ..Reply::new(result, self.session) }
    }
}

/// `/bin/bash -lc 'cargo tree'` is how the program runs `cargo tree`; only shown.
fn bare_command(command: &str) -> &str {
    let Some((_, inner)) = command.split_once(" -lc ") else { return command };
    let quoted = ['\'', '"'].iter().find_map(|q| inner.strip_prefix(*q)?.strip_suffix(*q));
    quoted.unwrap_or(inner)
}

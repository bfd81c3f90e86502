//! Recorded calls: which of them to look at, and what one of them is.

use super::{Mistake, RecordedCall};
use crate::host::Host;
use crate::{SHELL_TOOL, ShellTool, ToolCall};
use serde::Serialize;
use serde_json::{Value, json};
use towpath_store::{Order, Store, StoreError, ToolCallFilter, ToolCallRow};

/// The host of steps that failed inside of recipe runs.
pub const RUN_HOST: &str = "towpath";

/// Which failures to look at.
#[derive(Debug, Clone, Default)]
pub struct FailureQuery {
    pub since_ms: Option<i64>,
    pub host: Option<String>,
    pub tool: Option<String>,
    pub limit: Option<u32>,
}

impl FailureQuery {
    fn filter(&self, failed_only: bool) -> ToolCallFilter {
        ToolCallFilter {
            since_ms: self.since_ms,
            host: self.host.clone(),
            tool: self.tool.clone(),
            limit: self.limit,
            failed_only,
            order: Order::NewestFirst,
            ..ToolCallFilter::default()
        }
    }

    /// The newest first.
    pub fn failures(&self, store: Option<&Store>) -> Result<Vec<ToolCallRow>, StoreError> {
        store.map_or(Ok(Vec::new()), |store| store.tool_calls(&self.filter(true)))
    }

    /// Those that succeeded, too.
    pub fn calls(&self, store: Option<&Store>) -> Result<Vec<ToolCallRow>, StoreError> {
        store.map_or(Ok(Vec::new()), |store| store.tool_calls(&self.filter(false)))
    }
}

/// A row as a call that can be classified and corrected again.
pub fn recorded(row: &ToolCallRow) -> RecordedCall {
    RecordedCall {
        session: format!("{} {}", row.host, row.session.as_deref().unwrap_or(&row.id)),
        at_ms: row.at_ms,
        call: call(row),
        failed: row.failed,
        exit_code: row.exit_code,
        error: row.error.clone().unwrap_or_default(),
    }
}

/// Of a shell the row has the command, of any other tool the input as JSON.
fn call(row: &ToolCallRow) -> ToolCall {
    let shell = match row.host.as_str() {
        RUN_HOST => (row.tool == SHELL_TOOL).then(ShellTool::claude_code),
        host => Host::from_name(host).and_then(|host| host.shell_tool(&row.tool)),
    };
    let input = match &shell {
        Some(shell) => json!({ shell.command.as_str(): row.input }),
        None => serde_json::from_str(&row.input).unwrap_or(Value::Null),
    };
    let directory = row.directory.clone();
    ToolCall { host: row.host.clone(), tool: row.tool.clone(), input, shell, directory }
}

/// What was called, in a line: the command, or the tool with what it was given.
pub fn called(row: &ToolCallRow) -> String {
    match call(row).shell {
        Some(_) => row.input.clone(),
        None => match serde_json::from_str::<Value>(&row.input) {
            Ok(Value::Object(fields)) => {
                let texts = fields.values().filter_map(Value::as_str);
                texts.take(1).fold(row.tool.clone(), |tool, text| format!("{tool} {text}"))
            }
            _ => row.tool.clone(),
        },
    }
}

/// What an error is about, in a line.
pub fn error_line(row: &ToolCallRow) -> String {
    message_line(row.error.as_deref().unwrap_or_default()).to_owned()
}

/// The first line of an error that is more than its exit code; empty where there is none.
pub fn message_line(error: &str) -> &str {
    let exit_code = |line: &&str| line.starts_with("Exit code ") && line.len() < 16;
    // One host puts what a program printed between tags.
    let tag = |line: &&str| matches!(*line, "<untrusted_context>" | "</untrusted_context>");
    let lines = error.lines().map(str::trim).filter(|line| !line.is_empty() && !tag(line));
    let text = lines.clone().find(|line| !exit_code(line)).unwrap_or_default();
    text.trim_start_matches("<tool_use_error>").trim_end_matches("</tool_use_error>")
}

/// How a time in milliseconds is written.
pub type Times<'a> = &'a dyn Fn(i64) -> String;

/// A recorded call for other programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailureRow<'a> {
    id: &'a str,
    at: String,
    host: &'a str,
    version: Option<&'a str>,
    session: Option<&'a str>,
    directory: Option<&'a str>,
    tool: &'a str,
    program: Option<&'a str>,
    subcommand: Option<&'a str>,
    input: &'a str,
    failed: bool,
    exit_code: Option<i64>,
    error: Option<&'a str>,
    mistake: Option<Mistake>,
}

impl<'a> FailureRow<'a> {
    pub fn new(row: &'a ToolCallRow, time: Times<'_>) -> FailureRow<'a> {
        FailureRow {
            id: &row.id,
            at: time(row.at_ms),
            host: &row.host,
            version: row.version.as_deref(),
            session: row.session.as_deref(),
            directory: row.directory.as_deref(),
            tool: &row.tool,
            program: row.program.as_deref(),
            subcommand: row.subcommand.as_deref(),
            input: &row.input,
            failed: row.failed,
            exit_code: row.exit_code,
            error: row.error.as_deref(),
            mistake: recorded(row).mistake(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(host: &str, tool: &str, input: &str) -> ToolCallRow {
        ToolCallRow {
            host: host.to_owned(),
            tool: tool.to_owned(),
            input: input.to_owned(),
            failed: true,
            error: Some("Exit code 127\nbash: line 1: gti: command not found".to_owned()),
            ..ToolCallRow::default()
        }
    }

    #[test]
    fn the_command_of_every_hosts_shell_can_be_corrected_again() {
        for (host, tool) in
            [("claude-code", "Bash"), ("gemini", "run_shell_command"), (RUN_HOST, "Bash")]
        {
            let row = row(host, tool, "gti status");
            assert_eq!(recorded(&row).line(), Some("gti status"), "{host}");
            assert_eq!(called(&row), "gti status");
            assert!(recorded(&row).mistake().is_some());
        }
        let read = row("claude-code", "Read", "{\"file_path\":\"a.txt\"}");
        assert_eq!((recorded(&read).line(), called(&read)), (None, "Read a.txt".to_owned()));
        assert_eq!(error_line(&read), "bash: line 1: gti: command not found");
    }
}

//! One call of a tool, as a host's hook describes it.

use crate::rule::{SHELL_PARAMETER, SHELL_TOOL};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The agent program, as `claude-code`.
    pub host: String,
    /// The tool's name in that host.
    pub tool: String,
    /// All of the tool's input.
    pub input: Value,
    /// Set where the tool is the host's shell.
    pub shell: Option<ShellTool>,
    /// The working directory of the call.
    pub directory: Option<String>,
}

/// Where a host's shell tool has its command and its timeout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellTool {
    /// The parameter with the command.
    pub command: String,
    pub timeout: Option<TimeoutParameter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeoutParameter {
    pub name: String,
    /// How many of its units are one second.
    pub per_second: u64,
}

/// Claude Code's name in rules and calls.
pub const DEFAULT_HOST: &str = "claude-code";

impl ShellTool {
    /// The `Bash` tool of Claude Code.
    pub fn claude_code() -> ShellTool {
        let timeout = TimeoutParameter { name: "timeout".to_owned(), per_second: 1_000 };
        ShellTool { command: SHELL_PARAMETER.to_owned(), timeout: Some(timeout) }
    }
}

impl ToolCall {
    /// A call in Claude Code.
    pub fn claude_code(tool: &str, input: Value) -> ToolCall {
        ToolCall {
            host: DEFAULT_HOST.to_owned(),
            tool: tool.to_owned(),
            input,
            shell: (tool == SHELL_TOOL).then(ShellTool::claude_code),
            directory: None,
        }
    }

    /// The parameter that a rule for this tool and parameter is about, if the call has it as a string.
    pub(crate) fn parameter<'a>(
        &'a self,
        tool: &str,
        parameter: &'a str,
    ) -> Option<(&'a str, &'a str)> {
        let name = match &self.shell {
            Some(shell) if tool == SHELL_TOOL && parameter == SHELL_PARAMETER => &shell.command,
            Some(_) if tool == SHELL_TOOL => parameter,
            _ if tool == self.tool => parameter,
            _ => return None,
        };
        Some((name, self.input.get(name)?.as_str()?))
    }

    /// The shell command of the call, with the parameter it is in.
    pub fn command(&self) -> Option<(&str, &str)> {
        let name = &self.shell.as_ref()?.command;
        Some((name, self.input.get(name)?.as_str()?))
    }

    pub(crate) fn is_in(&self, directory: Option<&str>) -> bool {
        let Some(directory) = directory else { return true };
        let below = |own: &str| std::path::Path::new(own).starts_with(directory);
        self.directory.as_deref().is_some_and(below)
    }
}

//! The agent programs whose hooks we answer, one row each: how a hook's input is written, which tool
//! is the shell, and what the host does with an answer.
//!
//! What a row claims was observed in the real program, or read in its documentation where the program
//! cannot be run without its vendor's service (Cursor).

mod answer;
mod decision;
mod payload;

pub use answer::Answer;
pub use decision::{AnswerOptions, Decision, Mode, Permission};
pub use payload::{BatchCall, HookPayload, Outcome, PayloadError};

use crate::tool_call::{ShellTool, TimeoutParameter};
use serde::{Deserialize, Serialize};

/// An agent program. Its name is what rules, records and the command line use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    ClaudeCode,
    Codex,
    Cursor,
    Gemini,
    Copilot,
    #[serde(rename = "opencode")]
    OpenCode,
}

/// When a hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// Before a tool runs.
    Pre,
    /// After a tool has run.
    Post,
    /// After a tool has failed, where the host has an event of its own for it.
    Failure,
    /// After all calls of one message of the model, those of tools that do not exist too.
    Batch,
}

/// What a host does with our answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub rewrites: Rewrites,
    /// Where the agent can be shown why a call was corrected.
    pub context: ContextChannel,
    /// The event in which a call of a tool that does not exist is seen.
    pub unknown_tools: Option<HookEvent>,
    /// The hook after a call shows whether it failed.
    pub reports_failure: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrites {
    /// Another input is used whether or not the answer decides; the host's own rules then judge it.
    WithoutDecision,
    /// Another input is used only in an answer that also allows the call.
    OnlyAllowed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextChannel {
    /// The answer before the call.
    Before,
    /// The answer after the call.
    After,
}

/// How payloads and answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `tool_name`, `tool_input`, and answers in `hookSpecificOutput`.
    Claude,
    /// Claude's payload, answered with `tool_input`, `decision` and `reason`.
    Gemini,
    /// `toolName`, `toolArgs`, answered with `modifiedArgs`.
    Copilot,
    /// Claude's payload, answered with `updated_input` and `permission`.
    Cursor,
    /// What the plugin that we install for OpenCode sends and understands.
    Plugin,
}

struct Row {
    host: Host,
    name: &'static str,
    dialect: Dialect,
    /// The host's names for its events. A payload that names another one is not ours.
    events: &'static [(&'static str, HookEvent)],
    /// The names of the shell tool, as hooks see it.
    shell: &'static [&'static str],
    /// How many units of the shell tool's `timeout` are one second; `None` where it has none.
    timeout_per_second: Option<u64>,
    capabilities: Capabilities,
}

const CLAUDE_EVENTS: &[(&str, HookEvent)] = &[
    ("PreToolUse", HookEvent::Pre),
    ("PostToolUse", HookEvent::Post),
    ("PostToolUseFailure", HookEvent::Failure),
    ("PostToolBatch", HookEvent::Batch),
];

const ROWS: &[Row] = &[
    Row {
        host: Host::ClaudeCode,
        name: "claude-code",
        dialect: Dialect::Claude,
        events: CLAUDE_EVENTS,
        shell: &["Bash"],
        timeout_per_second: Some(1_000),
        capabilities: Capabilities {
            rewrites: Rewrites::WithoutDecision,
            context: ContextChannel::Before,
            unknown_tools: Some(HookEvent::Batch),
            reports_failure: true,
        },
    },
    Row {
        host: Host::Codex,
        name: "codex",
        dialect: Dialect::Claude,
        events: CLAUDE_EVENTS,
        shell: &["Bash"],
        timeout_per_second: None,
        capabilities: Capabilities {
            rewrites: Rewrites::OnlyAllowed,
            context: ContextChannel::Before,
            unknown_tools: None,
            reports_failure: false,
        },
    },
    Row {
        host: Host::Cursor,
        name: "cursor",
        dialect: Dialect::Cursor,
        events: &[
            ("preToolUse", HookEvent::Pre),
            ("beforeShellExecution", HookEvent::Pre),
            ("postToolUse", HookEvent::Post),
            ("postToolUseFailure", HookEvent::Failure),
        ],
        shell: &["Shell"],
        timeout_per_second: None,
        capabilities: Capabilities {
            rewrites: Rewrites::WithoutDecision,
            context: ContextChannel::After,
            unknown_tools: None,
            reports_failure: true,
        },
    },
    Row {
        host: Host::Gemini,
        name: "gemini",
        dialect: Dialect::Gemini,
        events: &[("BeforeTool", HookEvent::Pre), ("AfterTool", HookEvent::Post)],
        shell: &["run_shell_command"],
        timeout_per_second: None,
        capabilities: Capabilities {
            rewrites: Rewrites::WithoutDecision,
            context: ContextChannel::After,
            unknown_tools: None,
            reports_failure: true,
        },
    },
    Row {
        host: Host::Copilot,
        name: "copilot",
        dialect: Dialect::Copilot,
        events: &[
            ("preToolUse", HookEvent::Pre),
            ("postToolUse", HookEvent::Post),
            ("postToolUseFailure", HookEvent::Failure),
            ("PreToolUse", HookEvent::Pre),
            ("PostToolUse", HookEvent::Post),
            ("PostToolUseFailure", HookEvent::Failure),
        ],
        shell: &["bash", "Bash"],
        timeout_per_second: None,
        capabilities: Capabilities {
            rewrites: Rewrites::WithoutDecision,
            context: ContextChannel::Before,
            unknown_tools: Some(HookEvent::Pre),
            reports_failure: true,
        },
    },
    Row {
        host: Host::OpenCode,
        name: "opencode",
        dialect: Dialect::Plugin,
        events: &[],
        shell: &["bash"],
        timeout_per_second: Some(1_000),
        capabilities: Capabilities {
            rewrites: Rewrites::WithoutDecision,
            context: ContextChannel::After,
            unknown_tools: Some(HookEvent::Pre),
            reports_failure: true,
        },
    },
];

impl Host {
    pub const ALL: [Host; 6] =
        [Host::ClaudeCode, Host::Codex, Host::Cursor, Host::Gemini, Host::Copilot, Host::OpenCode];

    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.host == self).expect("every host has a row")
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn from_name(name: &str) -> Option<Host> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.host)
    }

    /// How the host's payloads and answers are usually written.
    pub fn dialect(self) -> Dialect {
        self.row().dialect
    }

    pub fn capabilities(self) -> Capabilities {
        self.row().capabilities
    }

    /// Where the command is, if a tool of this name is the host's shell.
    pub fn shell_tool(self, tool: &str) -> Option<ShellTool> {
        let row = self.row();
        row.shell.contains(&tool).then(|| ShellTool {
            command: crate::rule::SHELL_PARAMETER.to_owned(),
            timeout: row
                .timeout_per_second
                .map(|per_second| TimeoutParameter { name: "timeout".to_owned(), per_second }),
        })
    }

    /// The shell tool's name in this host.
    pub fn shell_name(self) -> &'static str {
        self.row().shell.first().expect("every host has a shell tool")
    }

    /// The host's version, where its environment shows it to hooks.
    pub fn version_of_environment(
        self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        match self {
            // `claude-code_2-1-325_harness`
            Host::ClaudeCode => {
                let agent = variable("AI_AGENT")?;
                let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
                Some(version.replace('-', "."))
            }
            Host::Cursor => variable("CURSOR_VERSION"),
            _ => None,
        }
    }
}

impl HookEvent {
    pub const ALL: [HookEvent; 4] =
        [HookEvent::Pre, HookEvent::Post, HookEvent::Failure, HookEvent::Batch];

    pub fn name(self) -> &'static str {
        match self {
            HookEvent::Pre => "pre",
            HookEvent::Post => "post",
            HookEvent::Failure => "failure",
            HookEvent::Batch => "batch",
        }
    }

    pub fn from_name(name: &str) -> Option<HookEvent> {
        HookEvent::ALL.into_iter().find(|event| event.name() == name)
    }
}

//! What a host sends to a hook. A field that is missing is missing; a payload without a tool, or of
//! another event than the hook was installed for, is refused.

use super::{Dialect, HookEvent, Host};
use crate::rule::SHELL_PARAMETER;
use crate::tool_call::ToolCall;
use serde_json::{Map, Value};

/// One call of a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct HookPayload {
    pub host: Host,
    pub event: HookEvent,
    /// How the answer must be written.
    pub dialect: Dialect,
    /// The host's name for the event, which some answers must repeat.
    pub event_name: Option<String>,
    pub session: Option<String>,
    /// The host's version, where the payload has it.
    pub version: Option<String>,
    pub call: ToolCall,
    pub call_id: Option<String>,
    /// When the event was, as the host writes it: the same for all of its hooks, where there is no id.
    pub timestamp: Option<Value>,
    /// Set after the call.
    pub outcome: Option<Outcome>,
    /// The calls of a batch.
    pub batch: Vec<BatchCall>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// `None` where the host does not show it.
    pub failed: Option<bool>,
    pub exit_code: Option<i64>,
    /// What the agent sees of it: the output, or the error.
    pub text: String,
}

/// One call of a batch, with the input that the model wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchCall {
    pub call: ToolCall,
    pub call_id: Option<String>,
    pub response: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("the payload is no JSON object")]
    NotAnObject,
    #[error("the payload names no tool")]
    NoTool,
    #[error("the payload is for {found:?}, not for {expected}")]
    OtherEvent { found: String, expected: &'static str },
}

/// Where a dialect has its fields. The first that is there counts.
struct Keys {
    session: &'static [&'static str],
    directory: &'static str,
    tool: &'static str,
    input: &'static str,
    call_id: &'static str,
    version: &'static str,
    response: &'static str,
    error: &'static str,
}

const CLAUDE: Keys = Keys {
    session: &["session_id"],
    directory: "cwd",
    tool: "tool_name",
    input: "tool_input",
    call_id: "tool_use_id",
    version: "version",
    response: "tool_response",
    error: "error",
};

impl Dialect {
    fn keys(self) -> Keys {
        match self {
            Dialect::Claude | Dialect::Gemini => CLAUDE,
            Dialect::Cursor => Keys {
                session: &["conversation_id", "session_id"],
                version: "cursor_version",
                response: "tool_output",
                error: "error_message",
                ..CLAUDE
            },
            Dialect::Copilot => Keys {
                session: &["sessionId"],
                tool: "toolName",
                input: "toolArgs",
                call_id: "toolCallId",
                response: "toolResult",
                ..CLAUDE
            },
            Dialect::Plugin => Keys {
                session: &["session"],
                directory: "directory",
                tool: "tool",
                input: "input",
                call_id: "call",
                response: "output",
                ..CLAUDE
            },
        }
    }
}

impl Host {
    /// What the payload of a hook describes.
    pub fn read(self, event: HookEvent, payload: &Value) -> Result<HookPayload, PayloadError> {
        let fields = payload.as_object().ok_or(PayloadError::NotAnObject)?;
        self.sender(fields).read_fields(event, fields)
    }

    /// In a trusted folder Copilot runs the hooks that a project has for Claude Code too. It has no
    /// transcript, which Claude Code always names.
    fn sender(self, fields: &Map<String, Value>) -> Host {
        let copilot = fields.contains_key("timestamp") && !fields.contains_key("transcript_path");
        if self == Host::ClaudeCode && copilot { Host::Copilot } else { self }
    }

    fn read_fields(
        self,
        event: HookEvent,
        fields: &Map<String, Value>,
    ) -> Result<HookPayload, PayloadError> {
        let event_name = text(fields, "hook_event_name");
        if let Some(found) = &event_name {
            let known = self.row().events.iter().find(|(name, _)| name == found);
            if known.is_none_or(|(_, of)| *of != event) {
                return Err(PayloadError::OtherEvent {
                    found: found.clone(),
                    expected: event.name(),
                });
            }
        }
        let dialect = self.dialect_of(fields);
        let keys = dialect.keys();
        let directory = directory(fields, &keys);
        let (call, batch) = match event {
            HookEvent::Batch => {
                (self.call("", Value::Null, directory.clone()), self.batch(fields, &directory))
            }
            _ => (self.single_call(fields, &keys, directory)?, Vec::new()),
        };
        Ok(HookPayload {
            host: self,
            event,
            dialect,
            event_name,
            session: keys.session.iter().find_map(|key| text(fields, key)),
            version: text(fields, keys.version),
            call,
            call_id: text(fields, keys.call_id),
            timestamp: fields.get("timestamp").cloned(),
            outcome: outcome(event, self, fields, &keys),
            batch,
        })
    }

    /// Copilot has two dialects, by the name of the event that the hook was installed for.
    fn dialect_of(self, fields: &Map<String, Value>) -> Dialect {
        match self {
            Host::Copilot if fields.contains_key("tool_name") => Dialect::Claude,
            _ => self.row().dialect,
        }
    }

    fn single_call(
        self,
        fields: &Map<String, Value>,
        keys: &Keys,
        directory: Option<String>,
    ) -> Result<ToolCall, PayloadError> {
        let input = fields.get(keys.input).cloned().unwrap_or(Value::Null);
        // Some versions of Copilot send the arguments as a text.
        let parsed = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let input = parsed.filter(Value::is_object).unwrap_or(input);
        let tool = text(fields, keys.tool);
        // Cursor's hook before a shell command has the command alone.
        if let (Host::Cursor, None, Some(command)) = (self, &tool, fields.get(SHELL_PARAMETER)) {
            let input = Map::from_iter([(SHELL_PARAMETER.to_owned(), command.clone())]);
            return Ok(self.call(self.shell_name(), Value::Object(input), directory));
        }
        let tool = tool.filter(|tool| !tool.is_empty()).ok_or(PayloadError::NoTool)?;
        // OpenCode turns the call of a tool that does not exist into one of this tool.
        if let (Host::OpenCode, "invalid", Some(Value::String(named))) =
            (self, tool.as_str(), input.get("tool"))
        {
            return Ok(self.call(named, Value::Null, directory));
        }
        Ok(self.call(&tool, input, directory))
    }

    /// A call of one of this host's tools.
    pub fn call(self, tool: &str, input: Value, directory: Option<String>) -> ToolCall {
        ToolCall {
            host: self.name().to_owned(),
            tool: tool.to_owned(),
            input,
            shell: self.shell_tool(tool),
            directory,
        }
    }

    fn batch(self, fields: &Map<String, Value>, directory: &Option<String>) -> Vec<BatchCall> {
        let calls = fields.get("tool_calls").and_then(Value::as_array);
        let one = |call: &Value| {
            let call = call.as_object()?;
            let input = call.get(CLAUDE.input).cloned().unwrap_or(Value::Null);
            Some(BatchCall {
                call: self.call(&text(call, CLAUDE.tool)?, input, directory.clone()),
                call_id: text(call, CLAUDE.call_id),
                response: call.get(CLAUDE.response).map(shown).unwrap_or_default(),
            })
        };
        calls.into_iter().flatten().filter_map(one).collect()
    }
}

impl BatchCall {
    /// Whether the host has no such tool.
    pub fn is_unknown_tool(&self) -> bool {
        self.response.contains("No such tool available")
    }

    /// Whether the host refused the call before it ran: no other hook sees such a call.
    pub fn is_refused_by_host(&self) -> bool {
        self.response.trim_start().starts_with("<tool_use_error>")
    }
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(str::to_owned)
}

fn directory(fields: &Map<String, Value>, keys: &Keys) -> Option<String> {
    let given = text(fields, keys.directory).filter(|directory| !directory.is_empty());
    given.or_else(|| fields.get("workspace_roots")?.get(0)?.as_str().map(str::to_owned))
}

fn outcome(
    event: HookEvent,
    host: Host,
    fields: &Map<String, Value>,
    keys: &Keys,
) -> Option<Outcome> {
    // Copilot's name for it, in the dialect of Claude Code.
    let response = fields.get(keys.response).or_else(|| fields.get("tool_result"));
    match event {
        HookEvent::Pre | HookEvent::Batch => None,
        HookEvent::Failure => {
            let error = fields.get(keys.error).or_else(|| fields.get("error")).or(response);
            let text = error.map(shown).unwrap_or_default();
            Some(Outcome { failed: Some(true), exit_code: exit_code(&text), text })
        }
        HookEvent::Post => {
            let text = response.map(shown).unwrap_or_default();
            let (failed, exit_code) = ended(host, fields, response, &text);
            Some(Outcome { failed, exit_code, text })
        }
    }
}

/// Whether a call that a hook saw after it ran has failed.
fn ended(
    host: Host,
    fields: &Map<String, Value>,
    response: Option<&Value>,
    text: &str,
) -> (Option<bool>, Option<i64>) {
    let part = |key: &str| response.and_then(|response| response.get(key));
    match host {
        // A failed call has an event of its own.
        Host::ClaudeCode | Host::Cursor => (Some(false), None),
        Host::Codex => (None, None),
        Host::Gemini => {
            let code = exit_code(text);
            let refused = part("error").is_some_and(|error| !error.is_null());
            (Some(refused || code.is_some_and(|code| code != 0)), code)
        }
        Host::Copilot => {
            let kind = part("resultType").or_else(|| part("result_type")).and_then(Value::as_str);
            let code = exit_code(text);
            let bad = kind.is_some_and(|kind| kind != "success");
            (Some(bad || code.is_some_and(|code| code != 0)), code)
        }
        Host::OpenCode => {
            let code = fields.get("exit").and_then(Value::as_i64);
            let error = fields.get("error").and_then(Value::as_str);
            (Some(error.is_some() || code.is_some_and(|code| code != 0)), code)
        }
    }
}

/// `Exit code 127` of Claude Code, `Exit Code: 3` of Gemini, `completed with exit code 0` of Copilot.
/// The last one counts: what is before may be the command's own output.
fn exit_code(text: &str) -> Option<i64> {
    let lower = text.to_ascii_lowercase();
    let after = |marker: &str| lower.rfind(marker).map(|at| at + marker.len());
    // Claude Code writes it in front.
    let at = match lower.starts_with("exit code ") {
        true => "exit code ".len(),
        false => after("\nexit code: ")
            .or_else(|| after("exit code: ").filter(|_| lower.starts_with("exit code: ")))
            .or_else(|| after(" exit code "))?,
    };
    let digits = lower[at..].split(|c: char| !c.is_ascii_digit() && c != '-').next()?;
    digits.parse().ok()
}

/// What the agent sees of a result.
fn shown(value: &Value) -> String {
    const TEXTS: &[&str] =
        &["stdout", "llmContent", "textResultForLlm", "text_result_for_llm", "output", "text"];
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(parts) => parts.iter().map(shown).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let found = TEXTS.iter().find_map(|key| fields.get(*key)).map(shown);
            let errors = fields.get("stderr").and_then(Value::as_str).filter(|t| !t.is_empty());
            match (found, errors) {
                (Some(text), Some(errors)) => format!("{text}\n{errors}"),
                (Some(text), None) => text,
                (None, _) => value.to_string(),
            }
        }
        other => other.to_string(),
    }
}

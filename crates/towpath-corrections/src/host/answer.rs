//! A decision in the words of each host. Nothing, or one JSON object, is written to stdout.

use super::{Decision, Dialect, HookEvent, HookPayload};
use serde_json::{Map, Value, json};

/// What a hook writes to stdout.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    pub stdout: String,
}

impl Answer {
    /// No opinion. Cursor expects an object in any case.
    pub fn none(dialect: Option<Dialect>) -> Answer {
        let stdout = if dialect == Some(Dialect::Cursor) { "{}\n" } else { "" };
        Answer { stdout: stdout.to_owned() }
    }

    fn of(value: &Value) -> Answer {
        Answer { stdout: format!("{value}\n") }
    }
}

impl HookPayload {
    /// The answer before a call.
    pub fn answer(&self, decision: &Decision) -> Answer {
        let answer = match (self.dialect, decision) {
            (_, Decision::Pass) => None,
            (Dialect::Claude, _) => claude(self.event_name.as_deref(), decision),
            (Dialect::Gemini, _) => gemini(decision),
            (Dialect::Copilot, _) => copilot(decision),
            (Dialect::Cursor, _) => cursor(decision),
            (Dialect::Plugin, _) => plugin(decision),
        };
        answer.map_or_else(|| Answer::none(Some(self.dialect)), |answer| Answer::of(&answer))
    }

    /// The answer after a call: what the agent is shown beside its result.
    pub fn answer_after(&self, context: Option<&str>) -> Answer {
        let Some(context) = context else { return Answer::none(Some(self.dialect)) };
        Answer::of(&match self.dialect {
            Dialect::Claude => {
                let event = self.event_name.as_deref().unwrap_or(claude_name(self.event));
                specific(event, json!({ "additionalContext": context }))
            }
            Dialect::Gemini => specific("AfterTool", json!({ "additionalContext": context })),
            Dialect::Copilot => json!({ "additionalContext": context }),
            Dialect::Cursor => json!({ "additional_context": context }),
            Dialect::Plugin => json!({ "context": context }),
        })
    }
}

fn claude_name(event: HookEvent) -> &'static str {
    match event {
        HookEvent::Pre => "PreToolUse",
        HookEvent::Post => "PostToolUse",
        HookEvent::Failure => "PostToolUseFailure",
        HookEvent::Batch => "PostToolBatch",
    }
}

/// Without the event's name the host ignores the whole answer.
fn specific(event: &str, fields: Value) -> Value {
    let mut all = Map::from_iter([("hookEventName".to_owned(), json!(event))]);
    if let Value::Object(fields) = fields {
        all.extend(fields);
    }
    json!({ "hookSpecificOutput": all })
}

fn claude(event: Option<&str>, decision: &Decision) -> Option<Value> {
    let event = event.unwrap_or(claude_name(HookEvent::Pre));
    Some(match decision {
        Decision::Pass => return None,
        Decision::Rewrite { input, allow, context } => {
            let mut fields = Map::new();
            if *allow {
                fields.insert("permissionDecision".to_owned(), json!("allow"));
            }
            fields.insert("updatedInput".to_owned(), input.clone());
            if let Some(context) = context {
                fields.insert("additionalContext".to_owned(), json!(context));
            }
            specific(event, Value::Object(fields))
        }
        Decision::Deny { reason } => specific(
            event,
            json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }),
        ),
        // The user sees it, the model does not.
        Decision::Report { message } => json!({ "systemMessage": format!("towpath {message}") }),
    })
}

fn gemini(decision: &Decision) -> Option<Value> {
    match decision {
        Decision::Rewrite { input, allow, .. } => {
            let mut answer = specific("BeforeTool", json!({ "tool_input": input }));
            if *allow {
                answer["decision"] = json!("allow");
            }
            Some(answer)
        }
        Decision::Deny { reason } => Some(json!({ "decision": "deny", "reason": reason })),
        Decision::Pass | Decision::Report { .. } => None,
    }
}

fn copilot(decision: &Decision) -> Option<Value> {
    match decision {
        Decision::Rewrite { input, allow, context } => {
            let mut answer = Map::new();
            if *allow {
                answer.insert("permissionDecision".to_owned(), json!("allow"));
            }
            answer.insert("modifiedArgs".to_owned(), input.clone());
            if let Some(context) = context {
                answer.insert("additionalContext".to_owned(), json!(context));
            }
            Some(Value::Object(answer))
        }
        Decision::Deny { reason } => {
            Some(json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }))
        }
        Decision::Pass | Decision::Report { .. } => None,
    }
}

fn cursor(decision: &Decision) -> Option<Value> {
    match decision {
        Decision::Rewrite { input, allow, .. } => {
            let mut answer = Map::new();
            if *allow {
                answer.insert("permission".to_owned(), json!("allow"));
            }
            answer.insert("updated_input".to_owned(), input.clone());
            Some(Value::Object(answer))
        }
        Decision::Deny { reason } => {
            Some(json!({ "permission": "deny", "user_message": reason, "agent_message": reason }))
        }
        Decision::Report { message } => {
            Some(json!({ "user_message": format!("towpath {message}") }))
        }
        Decision::Pass => None,
    }
}

/// OpenCode's plugin assigns `input` to the call's arguments, or throws `deny` as an error.
fn plugin(decision: &Decision) -> Option<Value> {
    match decision {
        Decision::Rewrite { input, .. } => Some(json!({ "input": input })),
        Decision::Deny { reason } => Some(json!({ "deny": reason })),
        Decision::Pass | Decision::Report { .. } => None,
    }
}

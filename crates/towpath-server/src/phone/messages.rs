//! The messages: one JSON object each, distinguished by `type`. Keys are written in snake case; names of
//! recipes, steps and reasons keep their hyphens.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ServerMessage {
    Hello {
        message: &'static str,
        version: &'static str,
        auth_version: u32,
        instructions: &'static str,
    },
    Connected {
        message: &'static str,
        session_id: Option<String>,
        negotiated_protocol_version: &'static str,
    },
    AuthError {
        message: &'static str,
    },
    Pong {},
    Ack {
        message: String,
    },
    Error(ErrorMessage),
    SessionList {
        sessions: Vec<SessionEntry<i64>>,
        total_count: usize,
    },
    RecentSessions {
        sessions: Vec<SessionEntry<String>>,
        limit: usize,
    },
    AvailableCommands {
        working_directory: Option<String>,
        project_commands: [(); 0],
        general_commands: [(); 0],
    },
    CommandHistory {
        sessions: [(); 0],
        limit: u64,
    },
    SessionHistory(Box<SessionHistory>),
    AvailableRecipes {
        recipes: Vec<RecipeEntry>,
    },
    RecipeStarted {
        recipe_id: String,
        recipe_label: String,
        session_id: String,
        current_step: String,
        step_count: u32,
    },
    RecipeStepStarted {
        session_id: String,
        step: String,
        step_count: u32,
    },
    RecipeStepTransition {
        session_id: String,
        from_step: String,
        to_step: String,
    },
    OrchestrationRetry {
        session_id: String,
        step: String,
        error: String,
    },
    RecipeExited {
        session_id: String,
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    TurnComplete {
        session_id: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        aborted: bool,
    },
    SessionLocked {
        message: &'static str,
        session_id: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct ErrorMessage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// A session in a list. Clients expect its time as a number in one list and as text in the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SessionEntry<T> {
    pub session_id: String,
    pub name: String,
    pub working_directory: String,
    pub last_modified: T,
    pub message_count: usize,
    pub provider: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct RecipeEntry {
    pub id: String,
    pub label: String,
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SessionHistory {
    pub session_id: String,
    pub messages: Vec<HistoryMessage>,
    pub first_seq: Option<u64>,
    pub last_seq: Option<u64>,
    pub next_seq: u64,
    pub is_complete: bool,
    pub gap: Option<Gap>,
}

/// Why a client's number cannot be continued from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Gap {
    pub requested_last_seq: u64,
    pub min_available_seq: u64,
    pub reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HistoryMessage {
    pub uuid: String,
    pub role: &'static str,
    pub text: String,
    pub timestamp: String,
    pub session_id: String,
    pub seq: u64,
}

impl ServerMessage {
    pub fn error(message: impl Into<String>) -> ServerMessage {
        ServerMessage::Error(ErrorMessage { message: message.into(), ..ErrorMessage::default() })
    }

    pub fn error_in(session: &str, message: impl Into<String>) -> ServerMessage {
        ServerMessage::Error(ErrorMessage {
            message: message.into(),
            session_id: Some(session.to_owned()),
            ..ErrorMessage::default()
        })
    }

    pub fn ack(message: impl Into<String>) -> ServerMessage {
        ServerMessage::Ack { message: message.into() }
    }

    /// As text of at most so many bytes: of a long list the last entries are left out, of a long error
    /// its end.
    pub fn to_text(&self, most: usize) -> String {
        let text = serde_json::to_string(self).expect("a message is plain data");
        if text.len() <= most {
            return text;
        }
        match self.smaller(text.len() - most) {
            Some(smaller) => smaller.to_text(most),
            // Nothing in it can be left out; clients read it in any case.
            None => text,
        }
    }

    fn smaller(&self, by: usize) -> Option<ServerMessage> {
        let mut smaller = self.clone();
        let changed = match &mut smaller {
            ServerMessage::SessionList { sessions, .. } => sessions.pop().is_some(),
            ServerMessage::RecentSessions { sessions, .. } => sessions.pop().is_some(),
            ServerMessage::AvailableRecipes { recipes } => recipes.pop().is_some(),
            ServerMessage::Error(ErrorMessage { message: text, .. })
            | ServerMessage::RecipeExited { error: Some(text), .. }
            | ServerMessage::OrchestrationRetry { error: text, .. } => shorten(text, by),
            _ => false,
        };
        changed.then_some(smaller)
    }
}

/// Shortens a text by at least so many bytes. False: it is empty already.
fn shorten(text: &mut String, by: usize) -> bool {
    let length = text.floor_char_boundary(text.len().saturating_sub(by));
    let changed = !text.is_empty();
    text.truncate(length);
    changed
}

/// A message of a client. Its type and its keys may be written with hyphens instead.
#[derive(Debug, Clone)]
pub(crate) struct ClientMessage {
    pub kind: String,
    fields: Map<String, Value>,
}

impl ClientMessage {
    pub fn parse(text: &str) -> Result<ClientMessage, String> {
        let fields: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
        Ok(ClientMessage { kind: kind.replace('-', "_"), fields })
    }

    /// The type as the client wrote it.
    pub fn written_kind(&self) -> &str {
        self.fields.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.fields.get(key).or_else(|| self.fields.get(&key.replace('_', "-")))
    }

    /// A text that is not empty.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    pub fn number(&self, key: &str) -> Option<u64> {
        self.value(key)?.as_u64()
    }

    pub fn has(&self, key: &str) -> bool {
        self.value(key).is_some_and(|value| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read_and_one_is_written() {
        let message = ClientMessage::parse(r#"{"type":"message-ack","message-id":"m"}"#);
        let message = message.expect("a message");
        assert_eq!((message.kind.as_str(), message.text("message_id")), ("message_ack", Some("m")));
        assert_eq!(message.written_kind(), "message-ack");
        let pong = ServerMessage::Pong {}.to_text(100);
        assert_eq!(pong, r#"{"type":"pong"}"#);
        let error = ServerMessage::error_in("s", "no").to_text(100);
        assert_eq!(error, r#"{"type":"error","message":"no","session_id":"s"}"#);
    }

    #[test]
    fn no_message_is_longer_than_the_client_takes() {
        let entry = |number: usize| RecipeEntry {
            id: format!("recipe-{number}"),
            label: "é".repeat(20),
            description: String::new(),
        };
        let many = ServerMessage::AvailableRecipes { recipes: (0..50).map(entry).collect() };
        assert!(many.to_text(usize::MAX).len() > 1000);
        let text = many.to_text(1000);
        assert!(text.len() <= 1000 && text.contains("recipe-3"), "{text}");
        let long = ServerMessage::error_in("s", "é\n".repeat(1000)).to_text(500);
        let read: Value = serde_json::from_str(&long).expect("JSON");
        assert!(long.len() <= 500 && read["session_id"] == "s", "{long}");
        let exited = ServerMessage::RecipeExited {
            session_id: "s".into(),
            reason: "error".into(),
            error: Some("\u{1}".repeat(1000)),
        };
        assert!(exited.to_text(300).len() <= 300);
    }
}

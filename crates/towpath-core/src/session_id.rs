//! The id of an agent's session.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The id of a conversation with an agent's program, chosen by us or returned by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    pub fn new(id: impl Into<String>) -> SessionId {
        SessionId(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SessionId {
    fn from(id: &str) -> SessionId {
        SessionId::new(id)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_is_written_as_plain_text() {
        let id: SessionId = serde_json::from_str("\"7f3k-1\"").unwrap();
        assert_eq!((id.as_str(), id.to_string().as_str()), ("7f3k-1", "7f3k-1"));
        assert_eq!(serde_json::to_string(&SessionId::new("x")).unwrap(), "\"x\"");
    }
}

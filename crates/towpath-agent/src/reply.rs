//! The end of a call: its answer, or why there is none.

use towpath_core::{FaultKind, SessionId, Usage};

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The agent's final text, which may be empty, or what went wrong.
    pub result: Result<String, CallFault>,
    /// The session to resume, also after a fault; `None` when the program named none.
    pub session: Option<SessionId>,
    /// Of this call alone, never of the whole session.
    pub usage: Option<Usage>,
    /// Of the whole session up to and with this call, where the program reports only that
    /// ([`UsageOf::Session`](crate::UsageOf)); `usage` is `None` then. What this call used is
    /// [`Usage::since`] the total that was recorded last for the same session. A session that we
    /// opened begins at nothing; of one that was begun elsewhere, the first call's part is unknown.
    pub session_total: Option<Usage>,
    /// Tool uses the program refused; they do not fail the call.
    pub denials: Vec<String>,
}

impl Reply {
    /// A reply of a program that has reported nothing else.
    pub(crate) fn new(result: Result<String, CallFault>, session: Option<SessionId>) -> Reply {
        Reply { result, session, usage: None, session_total: None, denials: Vec::new() }
    }
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallFault {
    pub kind: FaultKind,
    /// When it is worth trying again, in milliseconds since 1970, where the program reports it.
    pub until_ms: Option<i64>,
    pub message: String,
}

impl CallFault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> CallFault {
        CallFault { kind, until_ms: None, message: message.into() }
    }

    /// With the first of `texts` that is not blank after `what` happened.
    pub(crate) fn with_first(kind: FaultKind, what: &str, texts: &[&str]) -> CallFault {
        match texts.iter().map(|text| text.trim()).find(|text| !text.is_empty()) {
            Some(text) => CallFault::new(kind, format!("{what}: {text}")),
            None => CallFault::new(kind, what),
        }
    }
}

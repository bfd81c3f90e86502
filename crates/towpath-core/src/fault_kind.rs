//! What can go wrong with an agent call, in the words that backends and runs share.

use serde::{Deserialize, Serialize};

/// What went wrong with an agent call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    Auth,
    Limit,
    Overloaded,
    BadRequest,
    /// The session to continue does not exist.
    UnknownSession,
    /// The conversation, or a prompt by itself, is longer than the model reads.
    TooLong,
    Crash,
    Timeout,
    /// The backend itself cannot continue, such as a script that has run out of answers.
    Backend,
}

impl FaultKind {
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Auth => "auth",
            FaultKind::Limit => "limit",
            FaultKind::Overloaded => "overloaded",
            FaultKind::BadRequest => "bad request",
            FaultKind::UnknownSession => "unknown session",
            FaultKind::TooLong => "too long",
            FaultKind::Crash => "crash",
            FaultKind::Timeout => "timeout",
            FaultKind::Backend => "backend",
        }
    }

    /// Whether `continue_on_error` tolerates it.
    pub fn tolerable(self) -> bool {
        !matches!(self, FaultKind::Auth | FaultKind::Limit | FaultKind::Backend)
    }
}

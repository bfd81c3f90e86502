//! Words about agent calls that backends and runs share.

use serde::{Deserialize, Serialize};

/// What went wrong with an agent call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    Auth,
    Limit,
    Overloaded,
    BadRequest,
    Crash,
    Timeout,
    /// The backend itself cannot go on, such as a script that has run out of answers.
    Backend,
}

impl FaultKind {
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Auth => "auth",
            FaultKind::Limit => "limit",
            FaultKind::Overloaded => "overloaded",
            FaultKind::BadRequest => "bad request",
            FaultKind::Crash => "crash",
            FaultKind::Timeout => "timeout",
            FaultKind::Backend => "backend",
        }
    }

    /// Whether `continue_on_error` may go on after it.
    pub fn tolerable(self) -> bool {
        !matches!(self, FaultKind::Auth | FaultKind::Limit | FaultKind::Backend)
    }
}

/// What an agent call cost, as far as its program told. Unknown is `None`, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

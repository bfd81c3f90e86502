//! How a job ended, and what it gave. It is part of a fact: new fields must have defaults, so that old
//! journals still open.

use serde::{Deserialize, Serialize};
use towpath_core::{FaultKind, Usage};

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobEnd {
    pub status: JobStatus,
    #[serde(default, skip_serializing_if = "Output::is_none")]
    pub output: Output,
    /// What the user should read first when it failed: the end of stderr, or an agent's message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the agent's whole session has used, where its program reports only that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_total: Option<Usage>,
    /// The last part of an output that is not here as text, where a state machine reads an outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<String>,
    /// It was ended because it had printed nothing for this long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_ms: Option<u64>,
    /// Background children that were alive when the job ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum JobStatus {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    /// Ended by us because the run, or the recipe step around it, was stopped.
    Stopped,
    /// The program could not be started.
    NotStarted,
    /// The agent program reported what went wrong.
    Faulted(Fault),
}

impl JobEnd {
    pub fn new(status: JobStatus) -> JobEnd {
        JobEnd {
            status,
            output: Output::None,
            error: String::new(),
            usage: None,
            session_total: None,
            tail: None,
            silent_ms: None,
            left: Vec::new(),
        }
    }

    pub fn succeeded(&self) -> bool {
        self.status == JobStatus::Exited(0)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: FaultKind,
    /// When a rate limit resets, in milliseconds since 1970, if the program reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
}

/// What a job gave. Only `Text` is a value that other steps can read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum Output {
    #[default]
    None,
    Text(String),
    /// Kept on disk because nothing in the plan reads it.
    OnDisk {
        len: u64,
    },
    /// Over the limit for a value.
    TooLarge {
        len: u64,
    },
}

impl Output {
    pub fn is_none(&self) -> bool {
        *self == Output::None
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Output::Text(text) => Some(text),
            _ => None,
        }
    }
}

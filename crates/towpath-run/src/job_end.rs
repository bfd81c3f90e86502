//! How a job ended, and what it gave. It is part of a fact: new fields must have defaults, so that old
//! journals still open.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use towpath_core::{FaultKind, Usage, Value, extract_json};
use towpath_recipe::ParseJson;

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

    /// Whether it was ended from outside before it could report its result.
    pub(crate) fn interrupted(&self) -> bool {
        matches!(self.status, JobStatus::TimedOut | JobStatus::Stopped | JobStatus::Signalled(_))
    }

    pub(crate) fn exit_code(&self) -> Option<i32> {
        match self.status {
            JobStatus::Exited(code) => Some(code),
            _ => None,
        }
    }
}

impl JobStatus {
    /// In a few words.
    pub(crate) fn describe(&self, timeout: Option<Duration>) -> String {
        match self {
            // The code of bash for a command that SIGPIPE ended, which pipefail makes the code of the
            // pipe.
            JobStatus::Exited(141) => {
                "exit 141: a pipe was closed before all was written".to_owned()
            }
            JobStatus::Exited(code) => format!("exit {code}"),
            JobStatus::Signalled(signal) => format!("ended by signal {signal}"),
            JobStatus::TimedOut => timeout.map_or("timed out".to_owned(), timed_out),
            JobStatus::Stopped => "stopped".to_owned(),
            JobStatus::NotStarted => "could not be started".to_owned(),
            JobStatus::Faulted(fault) => format!("agent: {}", fault.kind.as_str()),
        }
    }
}

pub(crate) fn timed_out(after: Duration) -> String {
    format!("timed out after {} s", after.as_secs_f64())
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

    /// The JSON value in it, where the step wants one.
    pub(crate) fn json(&self, parse: ParseJson) -> Option<Value> {
        if parse == ParseJson::No { None } else { self.text().and_then(extract_json) }
    }
}

/// At most so many bytes of the end of a text.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

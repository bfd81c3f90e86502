//! The words between the engine and a backend: a call, how to start it, what is seen on the way,
//! and what came of it. Plain data; no backend's own notions appear here.

use std::ffi::OsString;
use std::path::PathBuf;
use towpath_core::{FaultKind, Usage};

/// One agent call as the engine wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    pub prompt: String,
    /// As the backend's program spells it; `None` is the program's own default.
    pub model: Option<String>,
    /// A new session's id, chosen by us where the program allows it, or the one to go on with.
    pub session: Option<String>,
    /// Go on with `session` instead of opening it.
    pub resume: bool,
    pub directory: PathBuf,
    /// Instructions that stand above the prompt, for a new session.
    pub system: Option<String>,
    /// One of the backend's own modes.
    pub mode: Option<String>,
}

/// How to start the program. The environment is the engine's own, without what
/// [`Backend::keeps`](crate::Backend::keeps) refuses, with `set` added last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub set: Vec<(OsString, OsString)>,
    /// For people to read: the names taken out of the environment, a trailing `*` standing for
    /// any ending. `keeps` is what decides, and knows the exceptions.
    pub remove: Vec<String>,
    /// Written whole, then closed.
    pub stdin: Vec<u8>,
}

/// How the program's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl Exit {
    pub fn code(code: i32) -> Exit {
        Exit { code: Some(code), signal: None }
    }

    pub fn signal(signal: i32) -> Exit {
        Exit { code: None, signal: Some(signal) }
    }

    pub fn success(self) -> bool {
        self.code == Some(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "ended with exit code {code}"),
            (None, Some(signal)) => write!(f, "was ended by signal {signal}"),
            (None, None) => write!(f, "ended in an unknown way"),
        }
    }
}

/// Something a line of output tells while the call still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sign {
    /// The session's id, as soon as the program names it.
    Session(String),
    /// What the agent does now, one line: `Bash cargo tree`, or the last line it wrote.
    Doing(String),
    /// The program waits and tries again by itself.
    Retrying(String),
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The agent's final text, which may be empty, or what went wrong.
    pub result: Result<String, CallFault>,
    /// The session to resume, also after a fault; `None` when the program named none.
    pub session: Option<String>,
    /// Of this call alone, never of the whole session.
    pub usage: Option<Usage>,
    /// Tool uses the program refused; they do not fail the call.
    pub denials: Vec<String>,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallFault {
    pub kind: FaultKind,
    /// When it is worth trying again, in milliseconds since 1970, where the program said so.
    pub until_ms: Option<i64>,
    pub message: String,
}

impl CallFault {
    pub fn new(kind: FaultKind, message: impl Into<String>) -> CallFault {
        CallFault { kind, until_ms: None, message: message.into() }
    }
}

//! What the executor and a backend exchange: a call, how to start it, what is seen on the way, and its
//! reply. Plain data; no backend's own notions appear here.

use crate::activity_line;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use towpath_core::{FaultKind, SessionId, Usage};

/// Text longer than this does not go into an argument: a program's single argument takes
/// 131,071 bytes at most on Linux.
pub(crate) const LONGEST_ARGUMENT: usize = 120_000;

/// One agent call as the engine wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub prompt: String,
    /// As the backend's program spells it; `None` is the program's own default.
    pub model: Option<String>,
    /// With `resume` the session to continue. Without it the id of a new one, chosen by us, and
    /// passed over where the program chooses. A session that turned out to be unknown is opened
    /// again by the same call without `resume`; by which id depends on
    /// [`SessionIds`](crate::SessionIds).
    pub session: Option<SessionId>,
    /// Continue `session` instead of opening it.
    pub resume: bool,
    /// Where the agent works. The process is started there.
    #[serde(with = "towpath_core::os_text")]
    pub directory: PathBuf,
    /// Instructions above the prompt, for a new session. A program that cannot take
    /// them apart gets them before its first prompt.
    pub system: Option<String>,
    /// They are added to the program's own instructions, and do not replace them.
    pub appends_system: bool,
    /// What the agent may do: one of the backend's own modes. `None` lets it do everything without
    /// asking, since nobody is there to answer.
    pub mode: Option<String>,
    /// The directory of this call alone in which an invocation's files are; absolute.
    #[serde(with = "towpath_core::os_text")]
    pub private: PathBuf,
}

impl Call {
    /// The prompt for a program that has no other way for instructions: a new session's first
    /// prompt begins with them.
    pub fn prompt_with_system(&self) -> String {
        match &self.system {
            Some(system) if !self.resume => format!("{}\n\n{}", system.trim_end(), self.prompt),
            _ => self.prompt.clone(),
        }
    }

    /// `--model=NAME`, as most programs take it.
    pub(crate) fn model_argument(&self) -> Option<OsString> {
        self.model.as_ref().map(|model| format!("--model={model}").into())
    }
}

/// How to start the program. The environment is the engine's own, without what
/// [`Backend::keeps`](crate::Backend::keeps) refuses, with `set` added last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub set: Vec<(OsString, OsString)>,
    /// Written whole, then closed.
    pub stdin: Vec<u8>,
    /// Written into [`Call::private`] before the start, for nobody else to read.
    pub writes: Vec<InputFile>,
    /// Names in [`Call::private`] that the program may write; what is there afterwards is handed to
    /// [`Reader::end`](crate::Reader::end).
    pub reads: Vec<&'static str>,
}

impl Invocation {
    /// A start with nothing but arguments and what goes by standard input.
    pub(crate) fn new(program: &Path, arguments: Vec<OsString>, stdin: String) -> Invocation {
        let (program, stdin) = (program.to_owned(), stdin.into_bytes());
        Invocation { program, arguments, stdin, ..Invocation::default() }
    }
}

/// A file that the program is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Without any directory.
    pub name: &'static str,
    pub contents: Vec<u8>,
}

/// How a call's process ended, and what it left for the reader.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    pub exit: Exit,
    /// The last few thousand bytes of standard error.
    pub stderr: &'a str,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// The files of [`Invocation::reads`] that are there.
    pub files: &'a [(&'static str, Vec<u8>)],
    /// We ended it, or nobody saw how it ended: its last lines may be what an interrupted program
    /// prints.
    pub interrupted: bool,
}

impl<'a> End<'a> {
    /// An end that left no files.
    pub fn new(exit: Exit, stderr: &'a str) -> End<'a> {
        End { exit, stderr, at_ms: 0, files: &[], interrupted: false }
    }

    pub fn file(&self, name: &str) -> Option<&'a [u8]> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.as_slice())
    }
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

/// Something that a line of output reports while the call still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallProgress {
    /// The session's id, as soon as the program names it.
    Session(SessionId),
    /// What the agent does now, one line: `Bash cargo tree`.
    Doing(String),
    /// A whole message of the agent.
    Message(String),
    /// The line that the agent is writing. All of it comes later, as a message or as the answer.
    Writing(String),
    /// The program waits and tries again by itself.
    Retrying(String),
    /// The program has printed all that it will print: its process should end by itself now.
    Complete,
}

impl CallProgress {
    /// What the agent does now, in one line.
    pub fn doing(&self) -> Option<String> {
        match self {
            CallProgress::Doing(what)
            | CallProgress::Writing(what)
            | CallProgress::Retrying(what) => Some(what.clone()),
            CallProgress::Message(text) => activity_line::last_line(text),
            CallProgress::Session(_) | CallProgress::Complete => None,
        }
    }

    /// A message as progress; none where it is blank.
    pub(crate) fn message(text: &str) -> Option<CallProgress> {
        (!text.trim().is_empty()).then(|| CallProgress::Message(text.to_owned()))
    }

    /// The id of a session as progress, where it was not known so far.
    pub(crate) fn session(known: &mut Option<SessionId>, id: Option<&str>) -> Option<CallProgress> {
        let id = SessionId::from(id.filter(|id| !id.is_empty())?);
        (known.as_ref() != Some(&id)).then(|| CallProgress::Session(known.insert(id).clone()))
    }
}

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

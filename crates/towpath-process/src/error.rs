//! What can go wrong, described for the user at the terminal. A job that cannot be started is a
//! `StartError` (the recipe's or the machine's matter); a warden that cannot be reached is a
//! `ProcessError` (the run's matter).

use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("the warden must be forked before any thread is started ({count} threads run)")]
    Threads { count: usize },
    #[error("{doing}: {source}")]
    System { doing: &'static str, source: io::Error },
    #[error("`{}` ended, or stayed silent, without becoming a warden", program.display())]
    NotAWarden { program: PathBuf },
    #[error("the warden of this run is gone")]
    WardenGone,
    #[error("process {pid} (`{command}`) of this run cannot be ended")]
    Survives { pid: u32, command: String },
    #[error("the job's arguments and environment are too large ({bytes} bytes)")]
    SpecTooLarge { bytes: usize },
}

impl ProcessError {
    pub(crate) fn system(
        doing: &'static str,
    ) -> impl FnOnce(rustix::io::Errno) -> ProcessError + Copy {
        move |errno| ProcessError::System { doing, source: errno.into() }
    }
}

/// Why a job did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartErrorKind {
    ProgramNotFound,
    NotExecutable,
    DirectoryMissing,
    /// The file for stdin, stdout or stderr cannot be opened.
    File,
    /// Arguments and environment exceed what the system takes.
    TooBig,
    /// A NUL byte where none can be.
    NulByte,
    /// No more processes, memory or open files.
    NoResources,
    /// The warden is ending everything, or this id is in use.
    Refused,
    Other,
}

/// Why a job did not start; `text` is a whole sentence without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct StartError {
    pub kind: StartErrorKind,
    pub text: String,
}

impl StartError {
    pub(crate) fn new(kind: StartErrorKind, text: impl Into<String>) -> StartError {
        StartError { kind, text: text.into() }
    }
}

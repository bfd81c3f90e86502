//! What the warden reports to the engine. Every `start` is answered by exactly one `Started` or
//! `StartFailed`, every `Started` by one `Ended`, unless the warden itself is gone.

use crate::error::StartError;
use crate::leftover::Leftover;
use serde::{Deserialize, Serialize};
use std::{fmt, io};
pub use towpath_core::Stream;

/// How a process ended: exactly one of the two is set, save for a process that even `KILL` could
/// not end in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitStatus {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl ExitStatus {
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

/// The file of a job's output took no more; the rest of that output was thrown away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    pub stream: Stream,
    pub errno: i32,
}

impl Lost {
    /// The system's own error.
    pub fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stream = match self.stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        write!(f, "{stream}: {}", self.error())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    Started {
        id: u64,
        pid: u32,
    },
    StartFailed {
        id: u64,
        error: StartError,
    },
    /// The job's own process is gone. All that it had written is in its output files; what its
    /// background children write later follows.
    Ended {
        id: u64,
        status: ExitStatus,
        /// Descendants ended together with the job, after `stop` or `kill_now`.
        ended: Vec<Leftover>,
        /// Descendants that still live: background children of a job that ended by itself, or,
        /// after a `stop`, what even `KILL` could not end.
        left: Vec<Leftover>,
        /// The first output that could not be kept whole: the disk is full or fails.
        lost: Option<Lost>,
    },
    /// The answer to `sweep`, and the warden's last event.
    Swept {
        /// What still lived beside the jobs themselves and was ended.
        ended: Vec<Leftover>,
        /// What even `KILL` could not end in time.
        left: Vec<Leftover>,
    },
}

//! How one job ended, as plain data. What it printed is in files; the owner of the run takes those into
//! the record.

use crate::job_spec::JobId;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use towpath_core::{FaultKind, SessionId, Usage};
use towpath_process::Leftover;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub job: JobId,
    pub status: EndStatus,
    /// The files with its output, in the run's directory; a job that printed nothing has none.
    pub stdout: String,
    pub stderr: String,
    /// What an agent has answered.
    pub answer: Option<String>,
    /// What a user should read first, where that is not the end of stderr.
    pub message: Option<String>,
    /// Of this call alone.
    pub usage: Option<Usage>,
    /// Of the call's whole session, where its program reports only that.
    pub session_total: Option<Usage>,
    /// The session as its program named it.
    pub session: Option<SessionId>,
    pub warnings: Vec<String>,
    /// Processes that were ended together with the job.
    pub ended: Vec<Leftover>,
    /// Background processes that it has left running.
    pub left: Vec<Leftover>,
}

impl Finished {
    /// An end of which nothing but its status is known.
    pub fn new(job: JobId, status: EndStatus) -> Finished {
        Finished {
            job,
            status,
            stdout: format!("{job}.stdout"),
            stderr: format!("{job}.stderr"),
            answer: None,
            message: None,
            usage: None,
            session_total: None,
            session: None,
            warnings: Vec::new(),
            ended: Vec::new(),
            left: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    Exited(i32),
    Signalled(i32),
    /// Ended by us at its timeout.
    TimedOut,
    /// Ended by us since it had printed nothing for so long.
    Silent(Duration),
    /// Ended by us because it was no longer wanted.
    Stopped,
    NotStarted,
    /// The agent's program reported what went wrong.
    Faulted {
        kind: FaultKind,
        /// When it is worth trying again, in milliseconds since 1970.
        until_ms: Option<i64>,
    },
}

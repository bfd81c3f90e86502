//! Facts: what happened, in the order it was recorded. They are plain data, appended to a journal
//! and replayed to rebuild a run. New fields must have defaults, so that old journals still open.

use crate::job_end::JobEnd;
use serde::{Deserialize, Serialize};
use towpath_core::{JobKey, SessionId, StepPath};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Fact {
    /// The run exists. Always the first fact.
    Started,
    /// A new owner took the run over: whatever was in flight is interrupted, what failed is
    /// tried again.
    Resumed,
    /// Recorded before the effect.
    JobStarted {
        key: JobKey,
        /// The scripted agent's line that this call takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// The agent session chosen for this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionId>,
        /// The backend that answers this call, as in `--backend`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        backend: Option<String>,
        /// The model that this call is given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// An agent program has named the session of a call, another one than was chosen for it.
    SessionOpened { key: JobKey, session: SessionId },
    /// Recorded before anything that depends on it.
    JobFinished { key: JobKey, end: JobEnd },
    /// The time of a recipe step has run out.
    Expired { step: StepPath },
    /// The user stated what became of a step.
    Answered { step: StepPath, answer: Answer },
    /// The user gave the conversations up: the next call begins another session.
    NewSession,
    /// The owner runs unattended: faults that may pass are waited for, at first so long.
    #[serde(rename = "Patient")]
    WaitsAfterFaults { first_ms: i64 },
    /// The rest of the run uses another version of the plan.
    Replanned { version: u32 },
    /// A stop of the run was requested; nothing more starts.
    Stopping { reason: StopReason },
    /// The owner has left the run.
    Ended { outcome: String },
}

impl Fact {
    /// A short stable name for the journal's index.
    pub fn kind(&self) -> &'static str {
        match self {
            Fact::Started => "started",
            Fact::Resumed => "resumed",
            Fact::JobStarted { .. } => "job-started",
            Fact::SessionOpened { .. } => "session-opened",
            Fact::JobFinished { .. } => "job-finished",
            Fact::Expired { .. } => "expired",
            Fact::Answered { .. } => "answered",
            Fact::NewSession => "new-session",
            Fact::WaitsAfterFaults { .. } => "patient",
            Fact::Replanned { .. } => "replanned",
            Fact::Stopping { .. } => "stopping",
            Fact::Ended { .. } => "ended",
        }
    }

    /// The start of a job that is no call of an agent's program.
    pub fn job_started(key: JobKey) -> Fact {
        Fact::JobStarted { key, line: None, session: None, backend: None, model: None }
    }

    pub fn key(&self) -> Option<&JobKey> {
        match self {
            Fact::JobStarted { key, .. }
            | Fact::SessionOpened { key, .. }
            | Fact::JobFinished { key, .. } => Some(key),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// It is done; this is its output and, for a step of a state machine, its outcome.
    Done {
        output: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<String>,
    },
    /// Run it again, and what comes after it.
    Again,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// A signal to the runner.
    Signal(i32),
    /// `towpath cancel` from elsewhere.
    Cancel,
}

//! The status of a run when nothing more can be started.

use crate::fact::StopReason;
use crate::failure::{Failure, FailureKind};
use serde::{Deserialize, Serialize};
use towpath_core::{FaultKind, RunStatus, StepPath};

/// The status of a run when nothing more can be started and nothing is in flight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    Done,
    Failed {
        step: StepPath,
        failure: Failure,
    },
    /// For a rate limit, or a fault that may pass: resume later.
    Waiting {
        why: FaultKind,
        until_ms: Option<i64>,
    },
    /// The user must state what became of these steps.
    Asking {
        steps: Vec<StepPath>,
    },
    Stopped {
        reason: StopReason,
    },
}

impl RunOutcome {
    pub fn as_str(&self) -> &'static str {
        self.status().kind().expect("an outcome of ours has a status of ours").as_str()
    }

    /// The status of a run that has come to this.
    pub fn status(&self) -> RunStatus {
        match self {
            RunOutcome::Done => RunStatus::Done,
            RunOutcome::Failed { step, failure } => {
                let ended = failure.kind == FailureKind::Exit;
                let reason = ended.then(|| failure.message.clone());
                RunStatus::Failed { step: step.clone(), reason }
            }
            RunOutcome::Waiting { why, until_ms } => {
                RunStatus::Waiting { why: *why, until_ms: *until_ms }
            }
            RunOutcome::Asking { steps } => RunStatus::Asking {
                step: steps.first().cloned().unwrap_or_else(|| StepPath::new("")),
            },
            RunOutcome::Stopped { reason: StopReason::Cancel } => RunStatus::Cancelled,
            RunOutcome::Stopped { reason: StopReason::Signal(_) } => RunStatus::Stopped,
        }
    }
}

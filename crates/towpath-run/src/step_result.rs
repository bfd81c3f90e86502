//! How a step ended. Text, JSON and exit codes are made from these types.

use crate::failure::{Failure, FailureKind};
use crate::job_end::Output;
use crate::reported::Reported;
use serde::{Deserialize, Serialize};
use towpath_core::Usage;
use towpath_recipe::OTHER;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    pub status: StepStatus,
    pub output: Output,
    pub exit_code: Option<i32>,
    pub usage: Option<Usage>,
    /// What a step of a state machine has reported.
    pub report: Option<Reported>,
}

impl StepResult {
    pub fn new(status: StepStatus, output: Output) -> StepResult {
        StepResult { status, output, exit_code: None, usage: None, report: None }
    }

    /// Whether a step of a state machine did its work and reported that something is wrong.
    pub fn reports_trouble(&self) -> bool {
        let outcome = self.report.as_ref().map(|report| report.outcome.as_str());
        matches!(outcome, Some("failure" | OTHER)) && self.status.is_success()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepStatus {
    Completed,
    /// It succeeded, but its output is not what the step wants.
    Degraded {
        reason: String,
    },
    /// It failed, and an agent has finished its work.
    Recovered {
        failure: Failure,
    },
    Skipped {
        reason: String,
    },
    Failed(Failure),
}

impl StepStatus {
    /// Whether the steps after it may build on it.
    pub fn is_success(&self) -> bool {
        use StepStatus::{Completed, Degraded, Recovered};
        matches!(self, Completed | Degraded { .. } | Recovered { .. })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self, StepStatus::Failed(Failure { kind: FailureKind::Stopped, .. }))
    }

    pub(crate) fn name(&self) -> StatusName {
        match self {
            StepStatus::Completed => StatusName::Completed,
            StepStatus::Degraded { .. } => StatusName::Degraded,
            StepStatus::Recovered { .. } => StatusName::Recovered,
            StepStatus::Skipped { .. } => StatusName::Skipped,
            StepStatus::Failed(_) => StatusName::Failed,
        }
    }

    pub fn as_str(&self) -> &'static str {
        self.name().as_str()
    }
}

/// A step's status without its details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusName {
    Completed,
    Degraded,
    Recovered,
    Skipped,
    Failed,
}

impl StatusName {
    pub fn as_str(self) -> &'static str {
        match self {
            StatusName::Completed => "completed",
            StatusName::Degraded => "degraded",
            StatusName::Recovered => "recovered",
            StatusName::Skipped => "skipped",
            StatusName::Failed => "failed",
        }
    }
}

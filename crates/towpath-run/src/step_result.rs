//! How steps and runs end. Text, JSON and exit codes are made from these types.

use crate::fact::StopReason;
use crate::job_end::Output;
use crate::machine::Reported;
use serde::{Deserialize, Serialize};
use towpath_core::{FaultKind, RunStatus, StepPath, Usage};
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// One line: `exit 1`, `timed out after 5 s`.
    pub message: String,
    /// More to read: the end of stderr, an agent's message.
    pub detail: String,
    /// The step of a called recipe where it began, which the message names; none where it is the
    /// failure of the step itself.
    pub origin: Option<StepPath>,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), detail: String::new(), origin: None }
    }

    /// The failure of a step, for the recipe step around it. It names the step where it began, not
    /// every step on the way up.
    pub(crate) fn within(self, step: StepPath) -> Failure {
        if self.origin.is_some() {
            return self;
        }
        let message = format!("step {step}: {}", self.message);
        Failure { message, origin: Some(step), ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The command ended with another code than zero, or by a signal of its own.
    Command,
    Timeout,
    /// A value did not fit its placeholder, a condition could not be evaluated, an output was too
    /// large.
    Value,
    /// The program could not be started.
    Start,
    /// `max_depth` or `max_total_steps`.
    Limit,
    /// A state machine may not take its transition.
    Guardrail(Guardrail),
    /// A step of a state machine reported no outcome, also after the reminder.
    Report,
    /// A state machine ended through a transition that is no success; the message is its reason.
    Exit,
    Agent(FaultKind),
    /// Ended because the run was stopped.
    Stopped,
}

/// What ends a state machine beside its own exits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guardrail {
    StepVisits,
    TotalSteps,
    Restarts,
    /// It would restart for ever.
    RestartWithoutWork,
    /// The recipe that it would restart with is not in the plan.
    UnknownRecipe,
}

impl FailureKind {
    /// Whether `continue_on_error` may tolerate it.
    pub fn tolerable(self) -> bool {
        match self {
            FailureKind::Limit | FailureKind::Guardrail(_) | FailureKind::Stopped => false,
            FailureKind::Agent(fault) => fault.tolerable(),
            _ => true,
        }
    }
}

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

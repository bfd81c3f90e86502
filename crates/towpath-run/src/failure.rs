//! Why a step has failed.

use crate::job_end::JobStatus;
use serde::{Deserialize, Serialize};
use towpath_core::{FaultKind, StepPath};

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

    /// The failure of a step that was ended because the run was.
    pub(crate) fn stopped() -> Failure {
        Failure::new(FailureKind::Stopped, "stopped")
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
    /// The failure of a step whose job did not succeed.
    pub(crate) fn of_job(status: &JobStatus) -> FailureKind {
        match status {
            JobStatus::Exited(_) | JobStatus::Signalled(_) => FailureKind::Command,
            JobStatus::TimedOut => FailureKind::Timeout,
            JobStatus::Stopped => FailureKind::Stopped,
            JobStatus::NotStarted => FailureKind::Start,
            JobStatus::Faulted(fault) => FailureKind::Agent(fault.kind),
        }
    }

    /// Whether `continue_on_error` may tolerate it.
    pub fn tolerable(self) -> bool {
        match self {
            FailureKind::Limit | FailureKind::Guardrail(_) | FailureKind::Stopped => false,
            FailureKind::Agent(fault) => fault.tolerable(),
            _ => true,
        }
    }
}

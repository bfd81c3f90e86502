//! What the user may want to see of a run's decisions, as they are made.

use crate::machine::{MachineExit, Reported};
use crate::outcome::StepResult;
use towpath_core::StepPath;
use towpath_recipe::StepKind;

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    StepStarted {
        step: StepPath,
        kind: StepKind,
    },
    StepEnded {
        step: StepPath,
        result: StepResult,
        tolerated: bool,
        took_ms: i64,
    },
    /// A machine has entered a step. `visit` and `total` count in its session.
    Entered {
        step: StepPath,
        recipe: String,
        visit: u32,
        max_visits: u32,
        total: u32,
        max_total: u32,
        model: Option<String>,
    },
    /// A step of a state machine has reported its outcome.
    Reported {
        step: StepPath,
        report: Reported,
    },
    /// An answer reported nothing; its agent is asked again.
    Reminded {
        step: StepPath,
        error: String,
    },
    /// A state machine takes a transition from a step.
    Moved {
        step: StepPath,
        to: Movement,
    },
    /// Files that were staged in git after a step.
    Staged {
        step: StepPath,
        files: Vec<String>,
    },
    Warning {
        step: Option<StepPath>,
        message: String,
    },
}

/// Where a transition leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    Step(String),
    Exit(MachineExit),
    /// The recipe that begins in a new session.
    Restart(String),
}

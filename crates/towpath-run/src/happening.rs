//! What a person may want to see of a run's decisions, as they are made.

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
    /// A machine's step has said how it went.
    Reported {
        step: StepPath,
        report: Reported,
    },
    /// An answer reported nothing; its agent is asked once more.
    Reminded {
        step: StepPath,
        error: String,
    },
    /// A machine goes on from a step.
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

/// Where a machine goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    Step(String),
    Exit(MachineExit),
    /// The recipe that begins in a new session.
    Restart(String),
}

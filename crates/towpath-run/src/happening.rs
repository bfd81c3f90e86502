//! What a person may want to see of a run's decisions, as they are made.

use crate::outcome::StepResult;
use towpath_core::StepPath;

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    StepStarted {
        step: StepPath,
        kind: &'static str,
    },
    StepEnded {
        step: StepPath,
        result: StepResult,
        tolerated: bool,
        took_ms: i64,
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

//! What a person may want to see of a run's decisions, as they are made.

use crate::outcome::StepResult;
use towpath_core::StepPath;

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    StepStarted { step: StepPath, kind: &'static str },
    StepEnded { step: StepPath, result: StepResult, tolerated: bool, took_ms: i64 },
    Warning { step: Option<StepPath>, message: String },
}

//! How a run can go on, as commands to copy. They are whole: a resume that would be refused is not
//! offered.

use super::failure::shell_word;
use towpath_core::{RunId, StepPath};
use towpath_run::{FailureKind, Run, RunOutcome};

pub fn resume(id: &RunId, run: &Run) -> String {
    match raising(run) {
        Some(Raising { flag, .. }) => format!("towpath resume {id} {flag}"),
        None if run.needs_new_session() => format!("towpath resume {id} --new-session"),
        None => format!("towpath resume {id}"),
    }
}

/// Why a machine ended at a limit, and the flag without which it does not go on.
#[derive(Debug, PartialEq, Eq)]
pub struct Raising {
    pub reason: String,
    pub flag: &'static str,
}

/// What stands against going on with a run whose own machine, or one that it called, met a limit.
pub fn raising(run: &Run) -> Option<Raising> {
    let Some(RunOutcome::Failed { failure, .. }) = run.outcome() else { return None };
    if failure.kind != FailureKind::Limit {
        return None;
    }
    let reason = failure.message;
    let flag = match reason.split(':').next()? {
        "max-step-visits-exceeded" => "--max-visits N",
        "max-total-steps" => "--max-steps N",
        "max-restarts-exceeded" => "--max-restarts N",
        // No limit: the machine would begin anew for ever.
        "restart-without-work" => "--again STEP",
        _ => return None,
    };
    Some(Raising { reason, flag })
}

/// That a step has done its work; of a machine's step also how it ended.
pub fn done(id: &RunId, run: &Run, step: &StepPath) -> String {
    let outcomes = run.outcomes_of(step).join(", ");
    let outcome = match outcomes.as_str() {
        "" => String::new(),
        outcomes => format!(" --outcome NAME (one of {outcomes})"),
    };
    format!("towpath resume {id} --done {}{outcome}", shell_word(step.as_str()))
}

pub fn again(id: &RunId, step: &StepPath) -> String {
    format!("towpath resume {id} --again {}", shell_word(step.as_str()))
}

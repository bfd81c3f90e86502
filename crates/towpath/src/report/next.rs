//! How a run can go on, as commands to copy. They are whole: a resume that would be refused is not
//! offered.

use super::failure::shell_word;
use towpath_core::{RunId, StepPath};
use towpath_run::Run;

pub fn resume(id: &RunId, run: &Run) -> String {
    match raising(run) {
        Some(flag) => format!("towpath resume {id} {flag}"),
        None => format!("towpath resume {id}"),
    }
}

/// The flag without which a machine that ended at a limit does not go on.
pub fn raising(run: &Run) -> Option<&'static str> {
    let exit = run.exit().filter(|_| run.is_refused())?;
    Some(match exit.reason.as_str() {
        "max-total-steps" => "--max-steps N",
        "max-restarts-exceeded" => "--max-restarts N",
        _ => "--max-visits N",
    })
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

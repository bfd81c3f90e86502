//! What a user states about steps when a run is resumed.

use crate::error::EngineError;
use towpath_core::StepPath;
use towpath_run::Run;

/// What the user states about steps when they resume.
#[derive(Debug, Clone, Default)]
pub struct ResumeAnswers {
    pub done: Vec<(StepPath, String, Option<String>)>,
    pub again: Vec<StepPath>,
    /// Give the conversations up: what is asked next begins another session.
    pub new_session: bool,
}

impl ResumeAnswers {
    /// Declares the current step done, with its output and, in a state machine, its outcome.
    pub fn add_done(
        &mut self,
        run: &Run,
        name: &str,
        output: &str,
        outcome: Option<&str>,
    ) -> Result<(), EngineError> {
        let step = run.find_step(name)?;
        if !run.awaits(&step) {
            let why =
                format!("{step} is not waiting: only a step at its turn can be declared done");
            return Err(EngineError::Answer(why));
        }
        check_outcome(run, &step, outcome)?;
        self.done.push((step, output.to_owned(), outcome.map(str::to_owned)));
        Ok(())
    }

    /// States that a step which has begun, and what follows it, shall run again.
    pub fn add_again(&mut self, run: &Run, name: &str) -> Result<(), EngineError> {
        let step = run.find_step(name)?;
        if !run.was_entered(&step) {
            let why = format!("{step} has not run yet: there is nothing to run again");
            return Err(EngineError::Answer(why));
        }
        self.again.push(step);
        Ok(())
    }
}

/// A machine's step is done with one of its outcomes, any other step without.
fn check_outcome(run: &Run, step: &StepPath, stated: Option<&str>) -> Result<(), EngineError> {
    let outcomes = run.outcomes_of(step);
    let listed = outcomes.join(", ");
    match stated {
        None if outcomes.is_empty() => Ok(()),
        Some(stated) if outcomes.iter().any(|outcome| outcome == stated) => Ok(()),
        None => Err(EngineError::OutcomeMissing { step: step.clone(), outcomes }),
        Some(_) if outcomes.is_empty() => {
            Err(EngineError::Answer(format!("{step} is no machine's step: it has no outcome")))
        }
        Some(stated) => {
            Err(EngineError::Answer(format!("`{stated}` is no outcome of {step}: it has {listed}")))
        }
    }
}

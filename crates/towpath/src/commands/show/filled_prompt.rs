//! `towpath show --prompt STEP`: the prompt that an agent step was given, with its values, as the replayed
//! run fills it.

use crate::exit::{CommandError, Exit};
use crate::session::time_flags::LIMITS;
use crate::terminal::out;
use towpath_core::StepPath;
use towpath_engine::{RecordedJob, recorded, recorded_jobs};
use towpath_run::{JobWork, Run, StepKind};
use towpath_store::{RunRow, Store};

/// Prints the prompt of the latest attempt.
pub fn print(store: &Store, row: &RunRow, step: &str) -> Result<Exit, CommandError> {
    let (path, jobs) = agent_step(store, row, step)?;
    let mut prompts = jobs.iter().filter(|job| job.job.key.step_path() == path).filter_map(|job| {
        match &job.job.work {
            // A later call of the same attempt is a reminder.
            JobWork::Agent(agent) if job.job.key.call == 0 => Some(agent.prompt.as_str()),
            _ => None,
        }
    });
    let prompt = prompts.next_back().ok_or_else(|| {
        CommandError::bad_input(format!("{path} has not run: it was given no prompt"))
    })?;
    out::line(prompt.strip_suffix('\n').unwrap_or(prompt));
    Ok(Exit::Done)
}

/// The agent step that a user means, and all jobs of the run.
pub fn agent_step(
    store: &Store,
    row: &RunRow,
    step: &str,
) -> Result<(StepPath, Vec<RecordedJob>), CommandError> {
    let run = recorded(store, &row.id, LIMITS)?.run;
    let path = run.find_step(step).map_err(|error| {
        CommandError::bad_input(format!("{error}; towpath show {} lists them", row.id))
    })?;
    match kind_of(&run, &path) {
        Some(StepKind::Agent) | None => Ok((path, recorded_jobs(store, &row.id, LIMITS)?)),
        Some(kind) => {
            let what = if kind == StepKind::Bash { "a command" } else { "a recipe" };
            Err(CommandError::bad_input(format!("{path} runs {what}: it calls no agent")))
        }
    }
}

fn kind_of(run: &Run, path: &StepPath) -> Option<StepKind> {
    crate::terminal::report::find(&run.view(), path).map(|step| step.kind)
}

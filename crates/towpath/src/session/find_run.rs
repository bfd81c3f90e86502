//! The run that a user means: by a unique prefix of its id, or the latest one.

use crate::environment::Environment;
use crate::exit::CommandError;
use towpath_run::StepView;
use towpath_store::{Found, RunRow, Store};

/// The journal, for a command that looks at a run.
pub fn open(env: &Environment, run: &str) -> Result<Store, CommandError> {
    env.journal()?.ok_or_else(|| {
        CommandError::bad_input(format!("there is no run {run}: nothing has run yet"))
    })
}

/// Finds a run by a unique prefix of its id.
pub fn find(store: &Store, name: &str) -> Result<RunRow, CommandError> {
    match store.find(name)? {
        Found::One(row) => Ok(*row),
        Found::None => Err(CommandError::bad_input(format!(
            "there is no run {name}; `towpath runs` lists them"
        ))),
        Found::Many(ids) => {
            let ids: Vec<String> = ids.iter().take(8).map(ToString::to_string).collect();
            let ids = ids.join(", ");
            Err(CommandError::bad_input(format!("`{name}` is ambiguous: it could be any of {ids}")))
        }
    }
}

/// The latest run of this directory.
pub fn latest(store: &Store, env: &Environment) -> Result<RunRow, CommandError> {
    store.latest(Some(&env.current))?.ok_or_else(|| {
        CommandError::bad_input(
            "no run was started in this directory; `towpath runs --all` lists all runs",
        )
    })
}

/// The paths of all steps.
pub fn step_paths(steps: &[StepView], names: &mut Vec<String>) {
    for step in steps {
        names.push(step.path.to_string());
        step_paths(&step.children, names);
    }
}

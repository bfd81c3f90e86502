//! The run that a user means: by a unique prefix of its id, or the latest one here.

use super::project_scope::ProjectScope;
use super::run_status::status_of;
use super::time_flags::LIMITS;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::{ago, clean, now_ms};
use crate::terminal::out;
use towpath_core::RunStatus;
use towpath_engine::recorded;
use towpath_run::StepView;
use towpath_shell::bash::quote;
use towpath_store::{Found, RunFilter, RunRow, Store};

/// The journal, for a command that looks at a run.
pub fn open(env: &Environment, run: Option<&str>) -> Result<Store, CommandError> {
    env.journal()?.ok_or_else(|| {
        CommandError::not_found(match run {
            Some(run) => format!("there is no run {run}: nothing has run yet"),
            None => "nothing has run yet; to start a run: towpath run demo".to_owned(),
        })
    })
}

/// Finds a run by a unique prefix of its id.
pub fn find(store: &Store, name: &str) -> Result<RunRow, CommandError> {
    match store.find(name)? {
        Found::One(row) => Ok(*row),
        Found::None => Err(CommandError::not_found(format!(
            "there is no run {name}; `towpath runs` lists them"
        ))),
        Found::Many(ids) => {
            let ids: Vec<String> = ids.iter().take(8).map(ToString::to_string).collect();
            let ids = ids.join(", ");
            Err(CommandError::bad_input(format!("`{name}` is ambiguous: it could be any of {ids}")))
        }
    }
}

/// The run that is named, or the latest run of this project to which a command applies: stderr names it.
/// `what` describes those runs: `no run here can be resumed`.
pub fn named_or_latest(
    store: &Store,
    env: &Environment,
    name: Option<&str>,
    applies: impl Fn(&RunStatus) -> bool,
    what: &str,
) -> Result<RunRow, CommandError> {
    if let Some(name) = name {
        return find(store, name).map_err(|error| match meant_step_or_recipe(store, env, name) {
            Some(meant) => CommandError::not_found(format!("there is no run {name}: {meant}")),
            None => error,
        });
    }
    let here = ProjectScope::new(env);
    for row in store.runs(&RunFilter::default())? {
        let status = status_of(store, &row);
        if applies(&status) && here.has(store, &row) {
            let when = ago(row.created_ms, now_ms());
            let (recipe, status) = (clean(&row.recipe), status.as_str());
            out::note(format!("run {} of {recipe}, {status}, started {when}", row.id));
            return Ok(row);
        }
    }
    Err(CommandError::not_found(format!("no run here {what}; `towpath runs --all` lists all runs")))
}

/// What a name that is no run is in the latest run here, with the command that was meant.
fn meant_step_or_recipe(store: &Store, env: &Environment, name: &str) -> Option<String> {
    let row = store.latest(Some(&env.current)).ok()??;
    let id = &row.id;
    if row.recipe == name {
        return Some(format!("it is the recipe of the latest one: towpath show {id}"));
    }
    let recorded = recorded(store, id, LIMITS).ok()?;
    let mut paths = Vec::new();
    step_paths(&recorded.run.view(), &mut paths);
    let is_step = |path: &String| path == name || path.ends_with(&format!("/{name}"));
    let is_step = paths.iter().any(is_step);
    is_step.then(|| format!("it is a step of the latest one: towpath show {id} {}", quote(name)))
}

/// The latest run of this directory.
pub fn latest(store: &Store, env: &Environment) -> Result<RunRow, CommandError> {
    store.latest(Some(&env.current))?.ok_or_else(|| {
        CommandError::not_found(
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

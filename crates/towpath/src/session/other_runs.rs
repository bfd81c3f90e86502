//! Other runs in the same directory: they may change the same files. That is reported before a run
//! starts, and nothing is refused: it may be intended.

use super::run_status::status_of;
use super::time_flags::LIMITS;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::{ago, clean, now_ms};
use crate::terminal::out;
use crate::terminal::report::next_commands;
use crate::terminal::report::next_commands::is_edited;
use std::path::Path;
use towpath_core::{RunId, RunStatus, StatusKind};
use towpath_process::MARKER_VARIABLE;
use towpath_recipe::Program;
use towpath_store::{RunFilter, Store};

/// Names every active run of a directory, except `own`.
pub fn warn(
    env: &Environment,
    store: &Store,
    directory: &Path,
    own: Option<&RunId>,
) -> Result<(), CommandError> {
    let filter = RunFilter {
        directory: Some(directory.to_owned()),
        status: Some(StatusKind::Running),
        ..RunFilter::default()
    };
    for row in store.runs(&filter)? {
        let lives = towpath_engine::owner_of(store, &row.id).is_some_and(|holder| holder.runs);
        if !lives || own == Some(&row.id) || is_around(env, &row.id) {
            continue;
        }
        let (id, name) = (&row.id, clean(&row.recipe));
        let when = ago(row.created_ms, now_ms());
        out::note(format!(
            "warning: run {id} of {name}, started {when}, is active in this directory too: both may \
             change the same files; --worktree gives a run a directory of its own"
        ));
    }
    Ok(())
}

/// Whether we were started by a step of this run.
fn is_around(env: &Environment, id: &RunId) -> bool {
    let marker = env.text(MARKER_VARIABLE).unwrap_or_default();
    marker.split(' ').any(|entry| entry.split_once('.').is_some_and(|(run, _)| run == id.as_str()))
}

/// One line about an earlier run of this recipe here that can be resumed.
pub fn hint_at_earlier(
    store: &Store,
    program: &Program,
    directory: &Path,
) -> Result<(), CommandError> {
    let filter = RunFilter {
        directory: Some(directory.to_owned()),
        recipe: Some(program.root().name.clone()),
        limit: Some(5),
        ..RunFilter::default()
    };
    for row in store.runs(&filter)? {
        let known = towpath_engine::recorded(store, &row.id, LIMITS);
        let root = |program: &Program| program.plan.recipes[0].path.clone();
        if known.as_ref().is_ok_and(|known| root(known.run.program()) != root(program)) {
            continue;
        }
        let status = status_of(store, &row);
        use RunStatus::{Asking, Failed, Interrupted, Stopped, Waiting};
        if matches!(status, Failed { .. } | Interrupted | Stopped | Waiting { .. } | Asking { .. })
        {
            let when = ago(row.created_ms, now_ms());
            let how = match known {
                Ok(known) => next_commands::resume(&row.id, &known.run, is_edited(&known.run)),
                Err(_) => Some(format!("towpath show {}", row.id)),
            };
            let (id, name) = (&row.id, &row.recipe);
            if let Some(how) = how {
                let how = format!("to resume it: {how}");
                out::note(format!("note: run {id} of {name} {} {when}; {how}", status.as_str()));
            }
            return Ok(());
        }
        if status == RunStatus::Done {
            return Ok(());
        }
    }
    Ok(())
}

//! Other runs in the same directory: they may change the same files. That is told before a run
//! starts, and nothing is refused: a person may have meant it.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::{ago, clean, now_ms};
use crate::terminal::out;
use std::path::Path;
use towpath_core::{RunId, StatusKind};
use towpath_process::MARKER_VARIABLE;
use towpath_store::{RunFilter, Store};

/// Names every run that goes on in a directory, but for `own`.
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
        let lives = towpath_engine::held_by(store, &row.id).is_some_and(|holder| holder.runs);
        if !lives || own == Some(&row.id) || is_around(env, &row.id) {
            continue;
        }
        let (id, name) = (&row.id, clean(&row.recipe));
        let when = ago(row.created_ms, now_ms());
        out::note(format!(
            "warning: run {id} of {name}, started {when}, goes on in this directory too: both may \
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

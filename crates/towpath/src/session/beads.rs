//! The task database of a git worktree. Where an agent works in a worktree that has one, it is told
//! by `BEADS_DB`, so that agents in two worktrees of one repository do not share their tasks. A
//! variable that is set already is a person's word and stays; the main tree, and a directory in no
//! repository, get none.

use crate::environment::Environment;
use crate::session::worktree::Place;
use std::path::{Path, PathBuf};
use towpath_engine::DirectoryVariables;

const VARIABLE: &str = "BEADS_DB";
const DATABASE: &str = ".beads-local/local.db";

pub fn directory_variables(env: &Environment) -> DirectoryVariables {
    if env.get(VARIABLE).is_some() {
        return DirectoryVariables::default();
    }
    DirectoryVariables::new(|directory| {
        database(directory).map(|file| (VARIABLE.into(), file.into())).into_iter().collect()
    })
}

/// The database of the worktree around a directory.
fn database(directory: &Path) -> Option<PathBuf> {
    // Git is asked only where the answer can matter: this happens before every call.
    if !directory.ancestors().any(|above| above.join(DATABASE).is_file()) {
        return None;
    }
    let place = Place::of(directory).ok()?;
    let file = place.top.as_ref()?.join(DATABASE);
    (place.is_worktree() && file.is_file()).then_some(file)
}

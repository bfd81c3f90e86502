//! The task database of a git worktree. An agent that works in a worktree with a database gets its
//! path in `BEADS_DB`, so that agents in two worktrees of one repository do not share their tasks. A
//! variable that the user has set stays; the main tree, and a directory outside of a repository, get
//! none.

use crate::environment::Environment;
use crate::session::worktree::GitLocation;
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
    let location = GitLocation::of(directory).ok()?;
    let file = location.top.as_ref()?.join(DATABASE);
    (location.is_worktree() && file.is_file()).then_some(file)
}

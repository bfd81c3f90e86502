//! Git worktrees: where a directory is in a repository, a separate worktree for a run, and what is
//! done with it when the run has ended. Git is called, except for a dry run, which starts nothing and
//! reads git's files. What a user has in a worktree is never deleted.

mod dry_run;
mod enter;
mod leave;
mod naming;
mod refusals;

pub use dry_run::would_enter;
pub use enter::enter;
pub use leave::{LeftWorktree, leave, restore_hint, typed, undo};

use crate::exit::CommandError;
use crate::git::Git;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use towpath_engine::Worktree;

/// The name for which one is chosen.
const AUTO: &str = "auto";

/// Where the run works from now on.
#[derive(Debug)]
pub struct EnteredWorktree {
    /// The directory in the worktree that matches the one where the run was started.
    pub directory: PathBuf,
    pub worktree: Worktree,
    /// What a user should know about it, in a line each.
    pub notes: Vec<String>,
}

/// Where a directory is in a repository.
#[derive(Debug)]
pub struct GitLocation {
    own: PathBuf,
    shared: PathBuf,
    /// The top of the working tree; a bare repository has none.
    pub top: Option<PathBuf>,
}

impl GitLocation {
    /// The error is git's: no repository, or one that it does not touch.
    pub fn of(directory: &Path) -> Result<GitLocation, CommandError> {
        let git = Git::new(directory);
        let asked = |what| asked_path(&git, what);
        let (own, shared) = (asked("--git-dir")?, asked("--git-common-dir")?);
        Ok(GitLocation { own, shared, top: asked("--show-toplevel").ok() })
    }

    /// A linked worktree has a git directory of its own beside the shared one. The path's name proves
    /// nothing: any directory may be called `worktrees`.
    pub fn is_worktree(&self) -> bool {
        self.own != self.shared
    }
}

/// A path that `git rev-parse` prints.
fn asked_path(git: &Git, what: &str) -> Result<PathBuf, CommandError> {
    let mut bytes = git.run(&["rev-parse", "--path-format=absolute", what])?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    let path = PathBuf::from(OsString::from_vec(bytes));
    match path.is_absolute() {
        true => Ok(path),
        // Before 2.31 git prints the option itself.
        false => {
            Err(CommandError::setup(format!("git does not print {what}: use git 2.31 or newer")))
        }
    }
}

/// A line that git prints.
fn line(git: &Git, arguments: &[&str]) -> Result<String, CommandError> {
    let bytes = git.run(arguments)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
}

//! Git worktrees: where a directory lies, a worktree of its own for a run, and what becomes of it
//! when the run has ended. Git is asked, and its files are read only where a look may start nothing;
//! what a user has in a worktree is never deleted.

mod dry_run;
mod enter;
mod leave;
mod naming;
mod refusals;

pub use dry_run::would_enter;
pub use enter::enter;
pub use leave::{Left, back, leave, typed, undo};

use crate::exit::CommandError;
use crate::git::Git;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use towpath_engine::Worktree;

/// The name that asks for one.
const AUTO: &str = "auto";

/// Where the run works from now on.
#[derive(Debug)]
pub struct Entered {
    /// The directory in the worktree that matches the one it was asked from.
    pub directory: PathBuf,
    pub worktree: Worktree,
    /// What a user should know about it, in a line each.
    pub notes: Vec<String>,
}

/// Where a directory lies in a repository.
#[derive(Debug)]
pub struct Place {
    own: PathBuf,
    shared: PathBuf,
    /// The top of the working tree; a bare repository has none.
    pub top: Option<PathBuf>,
}

impl Place {
    /// The error is git's: no repository, or one that it does not touch.
    pub fn of(directory: &Path) -> Result<Place, CommandError> {
        let git = Git::new(directory);
        let asked = |what| asked_path(&git, what);
        let (own, shared) = (asked("--git-dir")?, asked("--git-common-dir")?);
        Ok(Place { own, shared, top: asked("--show-toplevel").ok() })
    }

    /// A linked worktree has a directory of its own beside what it shares with the others. The
    /// name of a path says nothing: any folder may be called `worktrees`.
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
            Err(CommandError::setup(format!("git does not tell its {what}: a newer one is needed")))
        }
    }
}

/// A line that git prints.
fn line(git: &Git, arguments: &[&str]) -> Result<String, CommandError> {
    let bytes = git.run(arguments)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
}

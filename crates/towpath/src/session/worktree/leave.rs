//! What is done with a run's worktree when the run has ended. It is removed only where nothing can be
//! lost: it was created for this run, the run is done, nothing in it differs from the commit it began
//! with, ignored files included, and no other run uses it. Otherwise it stays, and the user gets the
//! commands to inspect and to remove it.

use super::line;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::git::Git;
use crate::session::run_status::status_of;
use crate::terminal::format::count;
use crate::terminal::shown_path::shown_path;
use serde_json::{Value, json};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use towpath_core::{RunId, RunStatus};
use towpath_engine::{RunEnd, Worktree};
use towpath_run::RunOutcome;
use towpath_shell::bash::quote;
use towpath_store::{RunFilter, Store};

/// A worktree after its run.
#[derive(Debug)]
pub struct LeftWorktree {
    worktree: Worktree,
    /// None where it cannot be read.
    changes: Option<WorktreeChanges>,
    removed: bool,
    done: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct WorktreeChanges {
    /// None: on no branch.
    branch: Option<String>,
    commits: usize,
    changes: usize,
    /// Of the changes, those that git does not look at.
    ignored: usize,
    /// Files that git does not compare, so that they may have been changed.
    unseen: usize,
}

/// Looks at the worktree of a run that has ended; removes it where nothing was done in it.
pub fn leave(env: &Environment, store: &Store, end: &RunEnd, worktree: Worktree) -> LeftWorktree {
    let done = end.outcome == RunOutcome::Done;
    let changes = changes(&worktree);
    let own = worktree.made && done && !env.current.starts_with(&worktree.path);
    let untouched = changes.as_ref().is_some_and(|changes| changes.is_untouched(&worktree));
    let removed = own && untouched && !others(store, &end.id, &worktree) && undo(&worktree).is_ok();
    LeftWorktree { worktree, changes, removed, done }
}

/// Removes a worktree that was made, and its branch if it is where it was. Git itself refuses to
/// remove one with changes.
pub fn undo(worktree: &Worktree) -> Result<(), CommandError> {
    let git = Git::new(Path::new(&worktree.repository));
    let all = ["-c", "status.showUntrackedFiles=normal", "-c", "diff.ignoreSubmodules=none"];
    git.run(&[&all[..], &["worktree", "remove", &worktree.path]].concat())?;
    let branch = format!("refs/heads/{}", worktree.branch);
    git.run(&["update-ref", "-d", &branch, &worktree.base]).map(|_| ())
}

/// The command that restores a removed worktree, where its repository still exists.
pub fn restore_hint(worktree: &Worktree, env: &Environment) -> String {
    let Worktree { path, branch, base, repository, .. } = worktree;
    let git = Git::new(Path::new(repository));
    let full = format!("refs/heads/{branch}");
    let known = |name: &str| git.run(&["rev-parse", "--verify", "--quiet", name]).is_ok();
    let (path, repository) = (typed(path, env), typed(repository, env));
    let word = quote(branch);
    let rest = match (known(&full), known(base)) {
        (true, _) => format!("{path} {word}"),
        (false, true) => format!("-b {word} {path} {}", &base[..base.len().min(12)]),
        (false, false) => return String::new(),
    };
    format!("; to restore it: git -C {repository} worktree add {rest}")
}

fn changes(worktree: &Worktree) -> Option<WorktreeChanges> {
    let git = Git::new(Path::new(&worktree.path));
    // What the user's configuration lets git ignore counts here.
    let all = ["--untracked-files=normal", "--ignore-submodules=none", "--ignored"];
    let status = ["--no-optional-locks", "status", "--porcelain"];
    let status = git.run(&[&status[..], &all[..]].concat()).ok()?;
    let changes = lines(&status).count();
    let ignored = lines(&status).filter(|line| line.starts_with(b"!! ")).count();
    let unseen = unseen(&git, Path::new(&worktree.path))?;
    let since = format!("{}..HEAD", worktree.base);
    let commits = line(&git, &["rev-list", "--count", &since]).ok()?.parse().ok()?;
    let head = line(&git, &["symbolic-ref", "--quiet", "HEAD"]).ok();
    let branch = head.map(|head| head.strip_prefix("refs/heads/").unwrap_or(&head).to_owned());
    Some(WorktreeChanges { branch, commits, changes, ignored, unseen })
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// How many existing files git does not compare (`assume-unchanged`, `skip-worktree`): whether they
/// were changed is unknown.
fn unseen(git: &Git, top: &Path) -> Option<usize> {
    let files = git.run(&["ls-files", "-v", "-z"]).ok()?;
    let is_unseen = |entry: &&[u8]| {
        let marked = entry.first().is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S');
        let name = std::ffi::OsStr::from_bytes(entry.get(2..).unwrap_or_default());
        marked && std::fs::symlink_metadata(top.join(name)).is_ok()
    };
    Some(files.split(|byte| *byte == 0).filter(is_unseen).count())
}

impl WorktreeChanges {
    fn is_untouched(&self, worktree: &Worktree) -> bool {
        let git = Git::new(Path::new(&worktree.path));
        let head = line(&git, &["rev-parse", "HEAD"]);
        self.changes == 0
            && self.unseen == 0
            && self.branch.as_ref() == Some(&worktree.branch)
            && head.is_ok_and(|head| head == worktree.base)
    }
}

/// Whether another run uses the worktree, or could. What cannot be known counts as yes.
fn others(store: &Store, id: &RunId, worktree: &Worktree) -> bool {
    store.runs(&RunFilter::default()).map_or(true, |rows| {
        rows.iter().any(|row| {
            let there = row.id != *id && row.directory.starts_with(&worktree.path);
            there && status_of(store, row) != RunStatus::Done
        })
    })
}

impl LeftWorktree {
    /// The lines at the end of the run.
    pub fn lines(&self, env: &Environment) -> Vec<String> {
        let path = typed(&self.worktree.path, env);
        if self.removed {
            let branch = &self.worktree.branch;
            return vec![format!(
                "nothing was changed in the worktree {path}: removed it, and its branch {branch}"
            )];
        }
        let Some(found) = &self.changes else {
            return vec![format!("worktree {path} cannot be read any more")];
        };
        let mut parts = vec![format!("worktree {path}")];
        parts.push(match &found.branch {
            Some(branch) => format!("branch {branch}"),
            None => "on no branch".to_owned(),
        });
        parts.extend(Some(found.commits).filter(|n| *n > 0).map(|n| count(n, "new commit")));
        let changes = found.changes - found.ignored;
        parts.extend(Some(changes).filter(|n| *n > 0).map(|n| count(n, "uncommitted change")));
        let ignored = Some(found.ignored).filter(|n| *n > 0 && changes == 0);
        parts.extend(ignored.map(|n| format!("{n} ignored")));
        let inside = env.current.starts_with(&self.worktree.repository);
        let at = match inside {
            true => String::new(),
            false => format!("-C {} ", typed(&self.worktree.repository, env)),
        };
        let when = if self.done { "when you no longer need it" } else { "to give up the run" };
        vec![
            parts.join(" · "),
            format!("  to inspect it: cd {path}"),
            format!("  {when}: git {at}worktree remove {path}"),
        ]
    }

    pub fn json(&self) -> Value {
        let found = self.changes.as_ref();
        json!({
            "path": self.worktree.path,
            "branch": found.map_or(Some(&self.worktree.branch), |found| found.branch.as_ref()),
            "base": self.worktree.base,
            "commits": found.map(|found| found.commits),
            "changes": found.map(|found| found.changes - found.ignored),
            "removed": self.removed,
        })
    }
}

/// A path as it can be typed.
pub fn typed(path: &str, env: &Environment) -> String {
    let short = shown_path(Path::new(path), env);
    match short.strip_prefix("~/") {
        Some(below) if quote(below) == below => short,
        _ => quote(path),
    }
}

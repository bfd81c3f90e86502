//! Why a run gets no worktree: the same errors for a run and for a dry run.

use crate::exit::CommandError;
use crate::terminal::format::clean;
use std::path::Path;

fn refused(why: String) -> CommandError {
    CommandError::bad_input(format!("--worktree: {why}"))
}

pub(super) fn no_repository(directory: &Path) -> CommandError {
    refused(format!(
        "{} is not in a git repository: run git init and make a first commit, or run without \
         --worktree",
        directory.display()
    ))
}

/// A git directory that git does not use by itself.
pub(super) fn foreign(directory: &Path) -> CommandError {
    refused(format!(
        "{} is in a git directory inside another repository's tree, and whoever wrote that tree may \
         have written its configuration: start from a working tree",
        directory.display()
    ))
}

pub(super) fn submodule(directory: &Path, outer: &Path) -> CommandError {
    refused(format!(
        "{} is in a submodule, and beside it is the working tree of {}: create a worktree elsewhere \
         with git worktree add, and run there with -C",
        directory.display(),
        outer.display()
    ))
}

pub(super) fn inside_git(directory: &Path) -> CommandError {
    refused(format!(
        "{} is inside git's own directory: go to the working tree",
        directory.display()
    ))
}

pub(super) fn no_branch_name(name: &str) -> CommandError {
    refused(format!("`{}` cannot be the name of a branch", clean(name)))
}

pub(super) fn no_commit() -> CommandError {
    refused("the repository has no commit yet: make a first one".to_owned())
}

pub(super) fn other_thing(path: &Path) -> CommandError {
    refused(format!(
        "{} exists and is not a worktree of this repository: choose another name",
        path.display()
    ))
}

pub(super) fn checked_out(branch: &str, tree: &Path) -> CommandError {
    let there = tree.display();
    let advice = match tree.is_dir() {
        true => format!("choose another name, or run there with -C {there}"),
        false => "which does not exist any more; to fix it: git worktree prune".to_owned(),
    };
    refused(format!("the branch {branch} is checked out in {there}: {advice}"))
}

pub(super) fn not_in_branch(directory: &Path, branch: &str) -> CommandError {
    refused(format!(
        "{} is not in the branch {branch}: commit it, or start from a directory that is",
        directory.display()
    ))
}

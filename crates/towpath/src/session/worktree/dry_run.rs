//! Where a run with `--worktree` would work, without a call of git: a dry run starts nothing. The few
//! files of git that name its worktrees and branches are read; what they do not contain is left open.

use super::naming::{beside, describe, free_name};
use super::refusals::{
    checked_out, foreign, inside_git, no_branch_name, no_commit, no_repository, not_in_branch,
    other_thing, submodule,
};
use super::{AUTO, EnteredWorktree};
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::git::{is_git_directory, link_target, tree_around};
use std::fs;
use std::path::{Path, PathBuf};
use towpath_engine::Worktree;

/// Where a run would work, with nothing made.
pub fn would_enter(
    env: &Environment,
    directory: &Path,
    name: &str,
    recipe: &str,
) -> Result<EnteredWorktree, CommandError> {
    let layout = GitLayout::around(directory)?;
    let name = match name {
        AUTO => {
            let taken = |name: &str| Ok(layout.has_branch(name) || layout.beside(name)?.exists());
            free_name(recipe, &taken)?
        }
        name if is_branch_name(name) => name.to_owned(),
        name => return Err(no_branch_name(name)),
    };
    layout.plan(env, directory, &name)
}

/// The files of a repository.
struct GitLayout {
    /// What belongs to the working tree that we are in.
    own: PathBuf,
    /// What all worktrees share.
    shared: PathBuf,
    /// The top of the main tree, or the directory of a bare repository.
    main: PathBuf,
    bare: bool,
    /// From the top of the tree that we are in to the directory.
    prefix: PathBuf,
}

impl GitLayout {
    fn around(directory: &Path) -> Result<GitLayout, CommandError> {
        let real = directory.canonicalize().map_err(|_| no_repository(directory))?;
        for above in real.ancestors() {
            let link = above.join(".git");
            let prefix = real.strip_prefix(above).unwrap_or(Path::new("")).to_owned();
            if prefix.starts_with(".git") {
                return Err(inside_git(directory));
            }
            if link.is_dir() {
                let main = above.to_owned();
                return Ok(GitLayout {
                    own: link.clone(),
                    shared: link,
                    main,
                    bare: false,
                    prefix,
                });
            }
            if link.is_file() {
                return GitLayout::linked(directory, &link, prefix);
            }
            if is_git_directory(above) {
                if tree_around(above).is_some() || above != real {
                    return Err(foreign(directory));
                }
                let (own, main) = (above.to_owned(), above.to_owned());
                return Ok(GitLayout { shared: own.clone(), own, main, bare: true, prefix });
            }
        }
        Err(no_repository(directory))
    }

    /// Below a file `.git`: in a linked worktree, in a submodule, or with git's directory elsewhere.
    fn linked(directory: &Path, link: &Path, prefix: PathBuf) -> Result<GitLayout, CommandError> {
        let own = link_target(link).ok_or_else(|| no_repository(directory))?;
        let top = link.parent().unwrap_or(Path::new("/")).to_owned();
        let shared = match fs::read_to_string(own.join("commondir")) {
            Ok(path) => own.join(path.trim_end()).canonicalize().unwrap_or_else(|_| own.clone()),
            Err(_) if own.components().any(|part| part.as_os_str() == "modules") => {
                return Err(submodule(directory, top.parent().unwrap_or(&top)));
            }
            Err(_) => {
                return Ok(GitLayout { shared: own.clone(), own, main: top, bare: false, prefix });
            }
        };
        let of_tree = shared.file_name().is_some_and(|name| name == ".git");
        let main = if of_tree { shared.parent().unwrap_or(&shared) } else { &shared };
        Ok(GitLayout { main: main.to_owned(), own, bare: !of_tree, shared, prefix })
    }

    fn beside(&self, name: &str) -> Result<PathBuf, CommandError> {
        beside(&self.main, self.bare, name)
    }

    fn plan(
        &self,
        env: &Environment,
        directory: &Path,
        name: &str,
    ) -> Result<EnteredWorktree, CommandError> {
        let path = self.beside(name)?;
        let there = fs::symlink_metadata(&path).is_ok();
        let (branch, base) = match self.worktrees().find(|(tree, _)| *tree == path) {
            Some((_, own)) if path.is_dir() => (checked_out_in(&own).unwrap_or_default(), own),
            _ if there => return Err(other_thing(&path)),
            _ => {
                let on = |own: &Path| checked_out_in(own).as_deref() == Some(name);
                if !self.bare && on(&self.shared) {
                    return Err(checked_out(name, &self.main));
                }
                if let Some((tree, _)) = self.worktrees().find(|(_, own)| on(own)) {
                    return Err(checked_out(name, &tree));
                }
                (name.to_owned(), self.own.clone())
            }
        };
        let made = !there && !self.has_branch(name);
        let base = if made || there { self.head(&base)? } else { self.branch(name) };
        let text = |path: &Path| path.display().to_string();
        let (base, repository) = (base.unwrap_or_default(), text(&self.main));
        let worktree = Worktree { path: text(&path), branch, base, repository, made };
        let inside = path.join(&self.prefix);
        if there && !inside.is_dir() {
            return Err(not_in_branch(directory, &worktree.branch));
        }
        let notes = vec![describe(&worktree, there, env)];
        Ok(EnteredWorktree { directory: inside.components().collect(), worktree, notes })
    }

    /// The linked worktrees: their top, and what belongs to each.
    fn worktrees(&self) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        let entries = fs::read_dir(self.shared.join("worktrees")).into_iter().flatten();
        entries.filter_map(|entry| {
            let own = entry.ok()?.path();
            let link = fs::read_to_string(own.join("gitdir")).ok()?;
            Some((own.join(link.trim_end()).parent()?.to_owned(), own))
        })
    }

    fn has_branch(&self, name: &str) -> bool {
        self.branch(name).is_some()
    }

    /// The commit of a branch.
    fn branch(&self, name: &str) -> Option<String> {
        let reference = format!("refs/heads/{name}");
        if let Ok(commit) = fs::read_to_string(self.shared.join(&reference)) {
            return Some(commit.trim_end().to_owned());
        }
        let packed = fs::read_to_string(self.shared.join("packed-refs")).ok()?;
        let commit =
            |line: &str| Some(line.strip_suffix(&reference)?.strip_suffix(' ')?.to_owned());
        packed.lines().find_map(commit)
    }

    /// The commit that is checked out; none where branches are stored in another way.
    fn head(&self, own: &Path) -> Result<Option<String>, CommandError> {
        if self.shared.join("reftable").exists() {
            return Ok(None);
        }
        match checked_out_in(own) {
            Some(branch) => self.branch(&branch).ok_or_else(no_commit).map(Some),
            None => Ok(fs::read_to_string(own.join("HEAD")).ok().map(|c| c.trim_end().to_owned())),
        }
    }
}

/// The branch of a working tree.
fn checked_out_in(own: &Path) -> Option<String> {
    let head = fs::read_to_string(own.join("HEAD")).ok()?;
    Some(head.strip_prefix("ref: refs/heads/")?.trim_end().to_owned())
}

/// What `git check-ref-format --branch` allows.
fn is_branch_name(name: &str) -> bool {
    let bad = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    name.split('/').all(part)
        && !name.contains(bad)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.starts_with('-')
        && !name.ends_with('.')
        && !matches!(name, "@" | "HEAD")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn names_of_branches_are_those_of_git() {
        // Git means what is checked out by it, and allows or refuses it depending on that.
        assert!(!is_branch_name("@"));
        for name in [
            "a",
            "fix/login",
            "a.b",
            "é",
            "@a",
            "HEAD",
            "head",
            "-a",
            "a-",
            ".a",
            "a/.b",
            "a.",
            "a..b",
            "a b",
            "a~",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a@{b",
            "/a",
            "a/",
            "a//b",
            "a.lock",
            "a.lock/b",
            "a.lockb",
            "\u{7f}",
            "a\tb",
            "",
        ] {
            let mut git = Command::new("git");
            let checked =
                git.args(["check-ref-format", "--branch", name]).output().expect("git starts");
            assert_eq!(is_branch_name(name), checked.status.success(), "{name:?}");
        }
    }
}

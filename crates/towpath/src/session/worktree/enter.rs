//! `--worktree NAME`: the worktree beside the repository in which a run works, made, or found where
//! it is one of this repository. All that could refuse it is asked before anything is made.

use super::naming::{beside, free_name, told};
use super::refusals::{
    checked_out, foreign, inside_git, no_branch_name, no_commit, no_repository, not_in_branch,
    other_thing, submodule,
};
use super::{AUTO, Entered, Place, asked_path, line};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::git::Git;
use std::path::{Path, PathBuf};
use towpath_engine::Worktree;

/// How often another run may take the name that was chosen.
const MOST_TRIES: u32 = 50;

/// Finds or makes the worktree `name` of the repository around a directory.
pub fn enter(
    env: &Environment,
    directory: &Path,
    name: &str,
    recipe: &str,
) -> Result<Entered, CommandError> {
    let repository = Repository::around(env, directory)?;
    if name != AUTO {
        return repository.enter(env, &repository.checked(name)?, false);
    }
    // Another run may take the name between our look and our making.
    for _ in 0..MOST_TRIES {
        let name = repository.free_name(recipe)?;
        match repository.enter(env, &name, true) {
            Err(_) if repository.has_branch(&name) => {}
            entered => return entered,
        }
    }
    Err(CommandError::setup(
        "--worktree auto: other runs took every name that was tried; try again",
    ))
}

struct Repository {
    git: Git,
    directory: PathBuf,
    /// The top of the main tree, or the directory of a bare repository.
    main: PathBuf,
    bare: bool,
    /// What all its worktrees share.
    shared: PathBuf,
    /// From the top to where we stand: empty, or with `/` at its end.
    prefix: String,
}

/// A line of `git worktree list`.
struct Tree {
    path: PathBuf,
    branch: Option<String>,
    bare: bool,
}

impl Repository {
    fn around(env: &Environment, directory: &Path) -> Result<Repository, CommandError> {
        if env.on_path("git").is_none() {
            let message = "--worktree needs git, which is not on PATH: install it \
                           (apt-get install git)";
            return Err(CommandError::new(Exit::Setup, "missing-program", message));
        }
        let place = Place::of(directory).map_err(|stop| match &stop.message {
            said if said.contains("not a git repository") => no_repository(directory),
            said if said.contains("safe.bareRepository") => foreign(directory),
            said => CommandError::bad_input(format!("--worktree: {said}")),
        })?;
        let git = Git::new(directory);
        if let Ok(outer) = asked_path(&git, "--show-superproject-working-tree") {
            return Err(submodule(directory, &outer));
        }
        let (main, bare) = match &place.top {
            Some(top) if !place.is_worktree() => (top.clone(), false),
            _ => {
                let main = trees(&git)?.into_iter().next();
                let main = main.ok_or_else(|| CommandError::setup("git worktree: no main tree"))?;
                (main.path, main.bare)
            }
        };
        if place.top.is_none() && !bare {
            return Err(inside_git(directory));
        }
        let prefix = line(&git, &["rev-parse", "--show-prefix"])?;
        let (directory, shared) = (directory.to_owned(), place.shared);
        Ok(Repository { git, directory, main, bare, shared, prefix })
    }

    /// Finds or makes the worktree of a name; with `anew` it is to be ours alone.
    fn enter(&self, env: &Environment, name: &str, anew: bool) -> Result<Entered, CommandError> {
        // One at a time: who finds a branch or a directory half made would take it for its own. Where a
        // directory cannot be locked, git alone has to refuse.
        let alone = std::fs::File::open(&self.shared);
        let _held = alone.as_ref().map(std::fs::File::lock);
        let (entered, known) = self.plan(env, name)?;
        if anew && !entered.worktree.made {
            return Err(CommandError::bad_input(format!("--worktree: {name} is taken")));
        }
        if !known {
            self.make(&entered.worktree)?;
        }
        Ok(entered)
    }

    /// What entering comes to, and whether the worktree is there already.
    fn plan(&self, env: &Environment, name: &str) -> Result<(Entered, bool), CommandError> {
        let path = self.beside(name)?;
        let trees = self.trees()?;
        let known = trees.iter().find(|tree| tree.path == path);
        let worktree = match known {
            Some(tree) => self.found(tree)?,
            None => self.planned(&path, name, &trees)?,
        };
        let mut entered = self.inside(worktree, &path)?;
        entered.notes.insert(0, told(&entered.worktree, known.is_some(), env));
        Ok((entered, known.is_some()))
    }

    fn trees(&self) -> Result<Vec<Tree>, CommandError> {
        trees(&self.git)
    }

    /// A branch's name, as git allows them.
    fn checked(&self, name: &str) -> Result<String, CommandError> {
        match line(&self.git, &["check-ref-format", "--branch", name]) {
            // `@{-1}` is another name for some branch.
            Ok(branch) if branch == name => Ok(branch),
            _ => Err(no_branch_name(name)),
        }
    }

    fn free_name(&self, recipe: &str) -> Result<String, CommandError> {
        let taken = |name: &str| Ok(self.has_branch(name) || self.beside(name)?.exists());
        self.checked(&free_name(recipe, &taken)?)
    }

    fn has_branch(&self, name: &str) -> bool {
        self.commit(&format!("refs/heads/{name}")).is_some()
    }

    fn commit(&self, name: &str) -> Option<String> {
        let commit = format!("{name}^{{commit}}");
        line(&self.git, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).ok()
    }

    fn beside(&self, name: &str) -> Result<PathBuf, CommandError> {
        beside(&self.main, self.bare, name)
    }

    /// A worktree that is there already.
    fn found(&self, tree: &Tree) -> Result<Worktree, CommandError> {
        let shown = tree.path.display();
        if !tree.path.is_dir() {
            return Err(CommandError::bad_input(format!(
                "--worktree: git still knows {shown}, and it is gone: git worktree prune"
            )));
        }
        let base = line(&Git::new(&tree.path), &["rev-parse", "HEAD"]).map_err(|stop| {
            CommandError::bad_input(format!("--worktree: {shown}: {}", stop.message))
        })?;
        let branch = tree.branch.clone().unwrap_or_default();
        Ok(self.worktree(&tree.path, branch, base, false))
    }

    /// One that is to be made.
    fn planned(&self, path: &Path, name: &str, trees: &[Tree]) -> Result<Worktree, CommandError> {
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(other_thing(path));
        }
        if let Some(tree) = trees.iter().find(|tree| tree.branch.as_deref() == Some(name)) {
            return Err(checked_out(name, &tree.path));
        }
        if let Some(base) = self.commit(&format!("refs/heads/{name}")) {
            return Ok(self.worktree(path, name.to_owned(), base, false));
        }
        let base = self.commit("HEAD").ok_or_else(no_commit)?;
        Ok(self.worktree(path, name.to_owned(), base, true))
    }

    fn worktree(&self, path: &Path, branch: String, base: String, made: bool) -> Worktree {
        let text = |path: &Path| path.display().to_string();
        Worktree { path: text(path), branch, base, repository: text(&self.main), made }
    }

    /// The same directory in the worktree as the one we stand in.
    fn inside(&self, worktree: Worktree, path: &Path) -> Result<Entered, CommandError> {
        let directory = path.join(&self.prefix);
        let there = match path.is_dir() {
            true => directory.is_dir(),
            false => {
                self.prefix.is_empty() || {
                    let inside = format!("{}:{}", worktree.base, self.prefix.trim_end_matches('/'));
                    line(&self.git, &["cat-file", "-t", &inside]).is_ok_and(|kind| kind == "tree")
                }
            }
        };
        if !there {
            return Err(not_in_branch(&self.directory, &worktree.branch));
        }
        let mut notes = Vec::new();
        if worktree.made && self.dirty() > 0 {
            notes.push(
                "note: what is not committed here stays here; the worktree begins at the last commit"
                    .to_owned(),
            );
        }
        // Without the `/` that a prefix ends with: a run's directory is compared with others.
        let directory = directory.components().collect();
        Ok(Entered { directory, worktree, notes })
    }

    /// How much a person has here that no commit has.
    fn dirty(&self) -> usize {
        let all = "--untracked-files=normal";
        let status = self.git.run(&["--no-optional-locks", "status", "--porcelain", all]);
        status.map_or(0, |bytes| bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()).count())
    }

    /// A branch that is made here is made first, so that it is known to be ours when the rest fails.
    fn make(&self, worktree: &Worktree) -> Result<(), CommandError> {
        let Worktree { path, branch, base, .. } = worktree;
        let told =
            |stop: CommandError| CommandError::bad_input(format!("--worktree: {}", stop.message));
        if worktree.made {
            self.git.run(&["branch", "--no-track", branch, base]).map_err(told)?;
        }
        let added = self.git.run(&["worktree", "add", "--quiet", path, branch]);
        if added.is_err() && worktree.made {
            // What cannot be taken away is told by what went wrong.
            let _ = self.git.run(&["update-ref", "-d", &format!("refs/heads/{branch}"), base]);
        }
        added.map(|_| ()).map_err(told)
    }
}

fn trees(git: &Git) -> Result<Vec<Tree>, CommandError> {
    let bytes = git.run(&["worktree", "list", "--porcelain", "-z"])?;
    let text = String::from_utf8_lossy(&bytes);
    let mut trees: Vec<Tree> = Vec::new();
    for field in text.split('\0') {
        if let Some(path) = field.strip_prefix("worktree ") {
            trees.push(Tree { path: path.into(), branch: None, bare: false });
        }
        let Some(tree) = trees.last_mut() else { continue };
        if let Some(branch) = field.strip_prefix("branch refs/heads/") {
            tree.branch = Some(branch.to_owned());
        }
        tree.bare |= field == "bare";
    }
    Ok(trees)
}

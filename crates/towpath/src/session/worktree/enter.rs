//! `--worktree NAME`: the worktree beside the repository in which a run works. It is created, or
//! reused where it belongs to this repository. All that could refuse it is checked first.

use super::naming::{beside, describe, free_name};
use super::refusals::{
    checked_out, foreign, inside_git, no_branch_name, no_commit, no_repository, not_in_branch,
    other_thing, submodule,
};
use super::{AUTO, EnteredWorktree, GitLocation, asked_path, line};
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
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
) -> Result<EnteredWorktree, CommandError> {
    let repository = Repository::around(env, directory)?;
    if name != AUTO {
        return repository.enter(env, &repository.checked(name)?, false);
    }
    // Another run may take the name before we have created it.
    for _ in 0..MOST_TRIES {
        let name = repository.free_name(recipe)?;
        match repository.enter(env, &name, true) {
            Err(_) if repository.has_branch(&name) => {}
            entered => return entered,
        }
    }
    Err(CommandError::setup(
        "--worktree auto: other runs took every name; try again, or give a name",
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
    /// From the top to the directory: empty, or with `/` at its end.
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
            return Err(CommandError::new(Exit::Setup, ErrorKind::MissingProgram, message));
        }
        let location = GitLocation::of(directory).map_err(|error| match &error.message {
            message if message.contains("not a git repository") => no_repository(directory),
            message if message.contains("safe.bareRepository") => foreign(directory),
            message => CommandError::bad_input(format!("--worktree: {message}")),
        })?;
        let git = Git::new(directory);
        if let Ok(outer) = asked_path(&git, "--show-superproject-working-tree") {
            return Err(submodule(directory, &outer));
        }
        let (main, bare) = match &location.top {
            Some(top) if !location.is_worktree() => (top.clone(), false),
            _ => {
                let main = trees(&git)?.into_iter().next();
                let main = main.ok_or_else(|| CommandError::setup("git worktree: no main tree"))?;
                (main.path, main.bare)
            }
        };
        if location.top.is_none() && !bare {
            return Err(inside_git(directory));
        }
        let prefix = line(&git, &["rev-parse", "--show-prefix"])?;
        let (directory, shared) = (directory.to_owned(), location.shared);
        Ok(Repository { git, directory, main, bare, shared, prefix })
    }

    /// Finds or creates the worktree of a name. With `new` it must not exist yet.
    fn enter(
        &self,
        env: &Environment,
        name: &str,
        new: bool,
    ) -> Result<EnteredWorktree, CommandError> {
        // One process at a time: another would take a half-made branch or directory for its own. Where
        // a directory cannot be locked, git alone has to refuse.
        let shared = std::fs::File::open(&self.shared);
        let _lock = shared.as_ref().map(std::fs::File::lock);
        let (entered, known) = self.plan(env, name)?;
        if new && !entered.worktree.made {
            return Err(CommandError::bad_input(format!("--worktree: {name} is taken")));
        }
        if !known {
            self.make(&entered.worktree)?;
        }
        Ok(entered)
    }

    /// The worktree, and whether it exists already.
    fn plan(&self, env: &Environment, name: &str) -> Result<(EnteredWorktree, bool), CommandError> {
        let path = self.beside(name)?;
        let trees = self.trees()?;
        let known = trees.iter().find(|tree| tree.path == path);
        let worktree = match known {
            Some(tree) => self.found(tree)?,
            None => self.planned(&path, name, &trees)?,
        };
        let mut entered = self.inside(worktree, &path)?;
        entered.notes.insert(0, describe(&entered.worktree, known.is_some(), env));
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
                "--worktree: git lists {shown}, which does not exist any more; to fix it: git worktree \
                 prune"
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

    /// The directory of the worktree that matches the current one.
    fn inside(&self, worktree: Worktree, path: &Path) -> Result<EnteredWorktree, CommandError> {
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
                "note: the worktree begins at the last commit; uncommitted changes stay here"
                    .to_owned(),
            );
        }
        // Without the `/` that a prefix ends with: a run's directory is compared with others.
        let directory = directory.components().collect();
        Ok(EnteredWorktree { directory, worktree, notes })
    }

    /// How many uncommitted changes there are here.
    fn dirty(&self) -> usize {
        let all = "--untracked-files=normal";
        let status = self.git.run(&["--no-optional-locks", "status", "--porcelain", all]);
        status.map_or(0, |bytes| bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()).count())
    }

    /// A branch that is made here is made first, so that it is known to be ours when the rest fails.
    fn make(&self, worktree: &Worktree) -> Result<(), CommandError> {
        let Worktree { path, branch, base, .. } = worktree;
        let refused =
            |error: CommandError| CommandError::bad_input(format!("--worktree: {}", error.message));
        if worktree.made {
            self.git.run(&["branch", "--no-track", branch, base]).map_err(refused)?;
        }
        let added = self.git.run(&["worktree", "add", "--quiet", path, branch]);
        if added.is_err() && worktree.made {
            // Where this fails too, the first error is the one to report.
            let _ = self.git.run(&["update-ref", "-d", &format!("refs/heads/{branch}"), base]);
        }
        added.map(|_| ()).map_err(refused)
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

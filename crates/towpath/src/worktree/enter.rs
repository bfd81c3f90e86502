//! `--worktree NAME`: the worktree beside the repository in which a run works, made, or found where
//! it is one of this repository. All that could refuse it is asked before anything is made.

use super::{Place, asked_path, line, typed};
use crate::exit::{Exit, Stop};
use crate::git::Git;
use crate::surroundings::Surroundings;
use crate::words::clean;
use jiff::Zoned;
use std::path::{Path, PathBuf};
use towpath_engine::Worktree;

/// The name that asks for one.
const AUTO: &str = "auto";
/// Longer names of recipes make unhandy directories.
const LONGEST: usize = 40;
/// How often another run may take the name that was chosen.
const MOST_TRIES: u32 = 50;

/// Where the run works from now on.
#[derive(Debug)]
pub struct Entered {
    /// The directory in the worktree that matches the one it was asked from.
    pub directory: PathBuf,
    pub worktree: Worktree,
    /// What a person should know about it, in a line each.
    pub notes: Vec<String>,
}

/// Where a run would work, with nothing made.
pub fn ahead(
    around: &Surroundings,
    directory: &Path,
    name: &str,
    recipe: &str,
) -> Result<Entered, Stop> {
    let repository = Repository::around(around, directory)?;
    let name = match name {
        AUTO => repository.free_name(recipe)?,
        name => repository.checked(name)?,
    };
    repository.plan(around, &name).map(|(entered, _)| entered)
}

/// Finds or makes the worktree `name` of the repository around a directory.
pub fn enter(
    around: &Surroundings,
    directory: &Path,
    name: &str,
    recipe: &str,
) -> Result<Entered, Stop> {
    let repository = Repository::around(around, directory)?;
    if name != AUTO {
        return repository.enter(around, &repository.checked(name)?, false);
    }
    // Another run may take the name between our look and our making.
    for _ in 0..MOST_TRIES {
        let name = repository.free_name(recipe)?;
        match repository.enter(around, &name, true) {
            Err(_) if repository.has_branch(&name) => {}
            entered => return entered,
        }
    }
    Err(Stop::setup("--worktree auto: other runs took every name that was tried; try again"))
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
    fn around(around: &Surroundings, directory: &Path) -> Result<Repository, Stop> {
        if around.on_path("git").is_none() {
            let message = "--worktree needs git, which is not on PATH: install it \
                           (apt-get install git)";
            return Err(Stop::new(Exit::Setup, "missing-program", message));
        }
        let shown = directory.display();
        let place = Place::of(directory).map_err(|stop| match &stop.message {
            said if said.contains("not a git repository") => Stop::bad_input(format!(
                "--worktree: {shown} is in no git repository; to make it one: git init, and a \
                 first commit; or run without --worktree"
            )),
            said => Stop::bad_input(format!("--worktree: {said}")),
        })?;
        let git = Git::new(directory);
        if let Ok(outer) = asked_path(&git, "--show-superproject-working-tree") {
            return Err(Stop::bad_input(format!(
                "--worktree: {shown} is in a submodule, and beside it is the working tree of {}: \
                 make one elsewhere with git worktree add, and run there with -C",
                outer.display()
            )));
        }
        let (main, bare) = match &place.top {
            Some(top) if !place.is_worktree() => (top.clone(), false),
            _ => {
                let main = trees(&git)?.into_iter().next();
                let main = main.ok_or_else(|| Stop::setup("git worktree: no main tree"))?;
                (main.path, main.bare)
            }
        };
        if place.top.is_none() && !bare {
            return Err(Stop::bad_input(format!(
                "--worktree: {shown} is inside git's own directory: go to the working tree"
            )));
        }
        let prefix = line(&git, &["rev-parse", "--show-prefix"])?;
        let (directory, shared) = (directory.to_owned(), place.shared);
        Ok(Repository { git, directory, main, bare, shared, prefix })
    }

    /// Finds or makes the worktree of a name; with `anew` it is to be ours alone.
    fn enter(&self, around: &Surroundings, name: &str, anew: bool) -> Result<Entered, Stop> {
        // One at a time: who finds a branch or a directory half made would take it for its own. Where a
        // directory cannot be locked, git alone has to refuse.
        let alone = std::fs::File::open(&self.shared);
        let _held = alone.as_ref().map(std::fs::File::lock);
        let (entered, known) = self.plan(around, name)?;
        if anew && !entered.worktree.made {
            return Err(Stop::bad_input(format!("--worktree: {name} is taken")));
        }
        if !known {
            self.make(&entered.worktree)?;
        }
        Ok(entered)
    }

    /// What entering comes to, and whether the worktree is there already.
    fn plan(&self, around: &Surroundings, name: &str) -> Result<(Entered, bool), Stop> {
        let path = self.beside(name)?;
        let trees = self.trees()?;
        let known = trees.iter().find(|tree| tree.path == path);
        let worktree = match known {
            Some(tree) => self.found(tree)?,
            None => self.planned(&path, name, &trees)?,
        };
        let mut entered = self.inside(worktree, &path)?;
        entered.notes.insert(0, told(&entered.worktree, known.is_some(), around));
        Ok((entered, known.is_some()))
    }

    fn trees(&self) -> Result<Vec<Tree>, Stop> {
        trees(&self.git)
    }

    /// A branch's name, as git allows them.
    fn checked(&self, name: &str) -> Result<String, Stop> {
        match line(&self.git, &["check-ref-format", "--branch", name]) {
            // `@{-1}` is another name for some branch.
            Ok(branch) if branch == name => Ok(branch),
            _ => Err(Stop::bad_input(format!(
                "--worktree: `{}` cannot be the name of a branch",
                clean(name)
            ))),
        }
    }

    /// `review-20260131-120501`, or the next that is free.
    fn free_name(&self, recipe: &str) -> Result<String, Stop> {
        let now = Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
        let first = format!("{}-{now}", as_word(recipe));
        let mut name = first.clone();
        for number in 2..1000 {
            if !self.has_branch(&name) && !self.beside(&name)?.exists() {
                break;
            }
            name = format!("{first}-{number}");
        }
        self.checked(&name)
    }

    fn has_branch(&self, name: &str) -> bool {
        self.commit(&format!("refs/heads/{name}")).is_some()
    }

    fn commit(&self, name: &str) -> Option<String> {
        let commit = format!("{name}^{{commit}}");
        line(&self.git, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).ok()
    }

    /// `/src/shop-NAME` beside `/src/shop` and `/src/shop.git`; beside a bare repository with a
    /// hidden name, such as `/src/shop/.bare`, it is `/src/shop/NAME`.
    fn beside(&self, name: &str) -> Result<PathBuf, Stop> {
        let name = name.replace('/', "-");
        let main = self.main.to_str().map(Path::new);
        let known = main.and_then(|main| Some((main.parent()?, main.file_name()?.to_str()?)));
        let Some((parent, own)) = known else {
            return Err(Stop::bad_input(format!(
                "--worktree: there is no place beside {} that could be named",
                self.main.display()
            )));
        };
        let own = if self.bare { own.strip_suffix(".git").unwrap_or(own) } else { own };
        match self.bare && (own.is_empty() || own.starts_with('.')) {
            true => Ok(parent.join(name)),
            false => Ok(parent.join(format!("{own}-{name}"))),
        }
    }

    /// A worktree that is there already.
    fn found(&self, tree: &Tree) -> Result<Worktree, Stop> {
        let shown = tree.path.display();
        if !tree.path.is_dir() {
            return Err(Stop::bad_input(format!(
                "--worktree: git still knows {shown}, and it is gone: git worktree prune"
            )));
        }
        let base = line(&Git::new(&tree.path), &["rev-parse", "HEAD"])
            .map_err(|stop| Stop::bad_input(format!("--worktree: {shown}: {}", stop.message)))?;
        let branch = tree.branch.clone().unwrap_or_default();
        Ok(self.worktree(&tree.path, branch, base, false))
    }

    /// One that is to be made.
    fn planned(&self, path: &Path, name: &str, trees: &[Tree]) -> Result<Worktree, Stop> {
        let shown = path.display();
        if std::fs::symlink_metadata(path).is_ok() {
            return Err(Stop::bad_input(format!(
                "--worktree: {shown} is there and is no worktree of this repository: choose \
                 another name"
            )));
        }
        if let Some(tree) = trees.iter().find(|tree| tree.branch.as_deref() == Some(name)) {
            let there = tree.path.display();
            let advice = match tree.path.is_dir() {
                true => format!("choose another name, or run there with -C {there}"),
                false => "which is gone: git worktree prune".to_owned(),
            };
            return Err(Stop::bad_input(format!(
                "--worktree: the branch {name} is checked out in {there}: {advice}"
            )));
        }
        if let Some(base) = self.commit(&format!("refs/heads/{name}")) {
            return Ok(self.worktree(path, name.to_owned(), base, false));
        }
        let base = self.commit("HEAD").ok_or_else(|| {
            Stop::bad_input("--worktree: the repository has no commit yet: make a first one")
        })?;
        Ok(self.worktree(path, name.to_owned(), base, true))
    }

    fn worktree(&self, path: &Path, branch: String, base: String, made: bool) -> Worktree {
        let text = |path: &Path| path.display().to_string();
        Worktree { path: text(path), branch, base, repository: text(&self.main), made }
    }

    /// The same directory in the worktree as the one we stand in.
    fn inside(&self, worktree: Worktree, path: &Path) -> Result<Entered, Stop> {
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
            return Err(Stop::bad_input(format!(
                "--worktree: {} is not in the branch {}: commit it, or start from a directory that is",
                self.directory.display(),
                worktree.branch
            )));
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
    fn make(&self, worktree: &Worktree) -> Result<(), Stop> {
        let Worktree { path, branch, base, .. } = worktree;
        let told = |stop: Stop| Stop::bad_input(format!("--worktree: {}", stop.message));
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

fn trees(git: &Git) -> Result<Vec<Tree>, Stop> {
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

/// `worktree ~/shop-try, on the new branch try`
fn told(worktree: &Worktree, known: bool, around: &Surroundings) -> String {
    let Worktree { path, branch, made, .. } = worktree;
    let new = if *made { "new " } else { "" };
    let branch = match branch.as_str() {
        "" => "on no branch".to_owned(),
        branch => format!("on the {new}branch {branch}"),
    };
    let known = if known { ", as it is" } else { "" };
    format!("worktree {}{known}, {branch}", typed(path, around))
}

/// A recipe's name as part of a branch's.
fn as_word(recipe: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = recipe.chars().map(kept).take(LONGEST).collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "run".to_owned() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_recipes_become_words() {
        for (name, word) in [
            ("Review and Commit", "review-and-commit"),
            ("--x..y~^:\\ ", "x-y"),
            ("日本", "run"),
            ("", "run"),
        ] {
            assert_eq!(as_word(name), word);
        }
        assert_eq!(as_word(&"a".repeat(99)).len(), LONGEST);
    }
}

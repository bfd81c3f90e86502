//! Which runs count as here: those of the project, and those in the same directory of every worktree
//! of its repository. Found by reading git's own files; no git is started.

use crate::environment::{Environment, is_project};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use towpath_engine::recorded_options;
use towpath_store::{RunRow, Store};

pub struct ProjectScope {
    /// The project, and its directory in the other worktrees.
    roots: Vec<PathBuf>,
    /// Whether everything below a root belongs to it.
    project: bool,
}

impl ProjectScope {
    pub fn new(env: &Environment) -> ProjectScope {
        let root = env.project_root(&env.current);
        let project = is_project(&root);
        let mut roots = vec![root.clone()];
        let top = root.ancestors().find(|directory| directory.join(".git").exists());
        if let Some(top) = top.filter(|_| project)
            && let (Ok(inside), Some(shared)) = (root.strip_prefix(top), shared(&top.join(".git")))
        {
            roots.extend(trees(&shared).iter().map(|tree| below(tree, inside)));
        }
        ProjectScope { roots, project }
    }

    pub fn has(&self, store: &Store, row: &RunRow) -> bool {
        self.has_directory(&row.directory) || self.had_worktree(store, row)
    }

    fn has_directory(&self, directory: &Path) -> bool {
        match self.project {
            true => self.roots.iter().any(|root| directory.starts_with(root)),
            false => self.roots.iter().any(|root| directory == root),
        }
    }

    /// A worktree that is gone is in git's files no more: the run itself knows whose it was.
    fn had_worktree(&self, store: &Store, row: &RunRow) -> bool {
        let gone = self.project && !row.directory.exists();
        let options = gone.then(|| recorded_options(store, &row.id).ok()).flatten();
        let worktree = options.and_then(|options| options.worktree);
        worktree.is_some_and(|worktree| {
            // The project may be a part of the repository: it is the same part in the worktree.
            let inside = row.directory.strip_prefix(&worktree.path).unwrap_or(Path::new(""));
            self.has_directory(&below(Path::new(&worktree.repository), inside))
        })
    }
}

fn below(tree: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() { tree.to_owned() } else { tree.join(inside) }
}

/// The directory that all working trees of a repository share, by a tree's `.git`.
fn shared(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return fs::canonicalize(dot_git).ok();
    }
    let own = named_in(dot_git, "gitdir: ", dot_git.parent()?)?;
    let common = named_in(&own.join("commondir"), "", &own);
    fs::canonicalize(common.unwrap_or(own)).ok()
}

/// The working trees of a repository: the main one, and those that are linked to it.
fn trees(shared: &Path) -> Vec<PathBuf> {
    let main = shared.parent().filter(|_| shared.ends_with(".git")).map(Path::to_owned);
    let entries = fs::read_dir(shared.join("worktrees")).into_iter().flatten().flatten();
    let linked = entries.filter_map(|entry| {
        let dot_git = named_in(&entry.path().join("gitdir"), "", &entry.path())?;
        let tree = dot_git.parent()?;
        Some(fs::canonicalize(tree).unwrap_or_else(|_| tree.to_owned()))
    });
    main.into_iter().chain(linked).collect()
}

/// A file of git's that names a path is no longer than this.
const MOST: u64 = 8 << 10;

/// The path in a file of git's, which may be relative to a directory.
fn named_in(file: &Path, before: &str, base: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    // An archive may have brought a pipe, which would not end, or a huge file.
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    let path = bytes.strip_prefix(before.as_bytes())?.trim_ascii_end();
    Some(base.join(std::ffi::OsStr::from_bytes(path)))
}

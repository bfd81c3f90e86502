//! What is towpath's own in its four directories, known by names and contents. A whole directory is
//! never removed because of its path: `TOWPATH_HOME` may name a directory with a `data` or `config`
//! of another program. A directory is removed when it is empty afterwards; what is left is named.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::settings::{Settings, USER_FILE};
use crate::terminal::format::bytes;
use crate::terminal::shown_path::shown_path;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use towpath_core::RunId;
use towpath_corrections::hooks_directory::{OWN_FILES, SESSIONS};
use towpath_process::{Holder, RunLock};
use towpath_store::disk_usage;
use towpath_view::foreign_text::escaped;

/// How many names of what is left are printed.
const MOST_NAMES: usize = 5;

/// The directories that exist.
#[derive(Debug)]
pub struct OwnFiles {
    directories: Vec<OwnDirectory>,
    /// What `TOWPATH_HOME` names.
    root: Option<PathBuf>,
}

#[derive(Debug)]
pub struct OwnDirectory {
    pub path: PathBuf,
    what: &'static str,
    /// Files and directories that are towpath's, with all that is in them.
    own: Vec<PathBuf>,
    /// What else is there, without the directories around it.
    others: Vec<PathBuf>,
}

impl OwnDirectory {
    fn new(path: &Path, what: &'static str, own: Vec<PathBuf>) -> OwnDirectory {
        let mut others = Vec::new();
        for entry in entries(path) {
            let around_own = own.iter().any(|own| own.starts_with(&entry) && *own != entry);
            let inside = if around_own { entries(&entry) } else { vec![entry] };
            others.extend(inside.into_iter().filter(|entry| !own.contains(entry)));
        }
        OwnDirectory { path: path.to_owned(), what, own, others }
    }

    /// Whether something of it would be removed.
    pub fn is_own(&self) -> bool {
        !self.own.is_empty() || self.others.is_empty()
    }

    pub fn describe(&self, env: &Environment) -> String {
        let size = bytes(self.own.iter().map(|own| disk_usage(own)).sum());
        format!("{}, {size}: {}", shown_path(&self.path, env), self.what)
    }

    /// What is not towpath's and stays.
    pub fn left(&self, env: &Environment) -> Option<String> {
        let name = |path: &PathBuf| escaped(path.strip_prefix(&self.path).unwrap_or(path));
        let mut names: Vec<String> = self.others.iter().take(MOST_NAMES).map(name).collect();
        if self.others.len() > MOST_NAMES {
            names.push(format!("and {} more", self.others.len() - MOST_NAMES));
        }
        let path = shown_path(&self.path, env);
        (!names.is_empty()).then(|| format!("left in {path}, not towpath's: {}", names.join(", ")))
    }

    /// Removes what is towpath's, then the directories that are empty.
    pub fn remove(&self) -> Result<(), (PathBuf, io::Error)> {
        for own in &self.own {
            let removed = match is_directory(own) {
                true => fs::remove_dir_all(own),
                false => fs::remove_file(own),
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err((own.clone(), error));
                }
                _ => {}
            }
        }
        let env = self.own.iter().filter_map(|own| own.parent());
        for directory in env.chain([self.path.as_path()]) {
            // One that is not empty stays.
            let _ = fs::remove_dir(directory);
        }
        Ok(())
    }
}

impl OwnFiles {
    /// Refuses a path that is a link or a file.
    pub fn find(env: &Environment) -> Result<OwnFiles, CommandError> {
        let given = env.get("TOWPATH_HOME").filter(|value| !value.is_empty());
        let root = given.map(|root| env.current.join(root));
        let known = &env.directories;
        let all = [&known.state, &known.data, &known.config, &known.cache];
        let there = |path: &&&PathBuf| path.symlink_metadata().is_ok();
        if let Some(path) = all.iter().filter(there).find(|path| !is_directory(path)) {
            let message = format!("{} is a link or a file; remove it yourself", escaped(path));
            return Err(CommandError::setup(message));
        }
        let whats = [
            "the journal of all runs, with their output",
            "installed data",
            "your settings and your own recipes",
            "temporary files",
        ];
        let owns = [in_state(&known.state), Vec::new(), in_config(env), in_cache(&known.cache)];
        let existing = all.into_iter().zip(whats).zip(owns);
        let existing = existing.filter(|((path, _), _)| path.exists());
        let directories = existing.map(|((path, what), own)| OwnDirectory::new(path, what, own));
        Ok(OwnFiles { directories: directories.collect(), root })
    }

    /// Those that contain something of towpath's.
    pub fn directories(&self) -> impl Iterator<Item = &OwnDirectory> {
        self.directories.iter().filter(|directory| directory.is_own())
    }

    /// What stays, in a line for each directory.
    pub fn left(&self, env: &Environment) -> Vec<String> {
        self.directories.iter().filter_map(|directory| directory.left(env)).collect()
    }

    /// Removes the directory around them if it is empty; that it is not is no failure.
    pub fn remove_empty_root(&self) {
        if let Some(root) = &self.root {
            let _ = fs::remove_dir(root);
        }
    }
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// What is in a directory; nothing where a link leads elsewhere.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(directory).ok().filter(|_| is_directory(directory));
    let mut paths: Vec<PathBuf> =
        inside.into_iter().flatten().flatten().map(|e| e.path()).collect();
    paths.sort();
    paths
}

fn those(directory: &Path, is_own: impl Fn(&Path, &str) -> bool) -> Vec<PathBuf> {
    let named = |path: &PathBuf| {
        path.file_name().and_then(OsStr::to_str).is_some_and(|name| is_own(path, name))
    };
    entries(directory).into_iter().filter(named).collect()
}

const JOURNAL: &str = "journal.db";

/// The files of the page's server.
fn of_page(state: &Path) -> Vec<PathBuf> {
    let page = state.join("ui");
    let names = ["dismissed", "lock", "open.html", "server.json", "token"];
    match page.join("token").is_file() {
        true => those(&page, |path, name| names.contains(&name) && path.is_file()),
        false => Vec::new(),
    }
}

/// The journal with what SQLite and we put beside it; with it, runs and locks of sessions.
fn in_state(state: &Path) -> Vec<PathBuf> {
    if !state.join(JOURNAL).is_file() {
        return of_page(state);
    }
    let mut own = of_page(state);
    own.extend(those(state, |path, name| {
        let beside =
            name.strip_prefix(JOURNAL).is_some_and(|r| r.is_empty() || r.starts_with(['-', '.']));
        (beside && path.is_file()) || (name == "sessions" && is_directory(path))
    }));
    own.extend(those(&state.join("hooks"), |path, name| {
        (OWN_FILES.contains(&name) && path.is_file()) || (name == SESSIONS && is_directory(path))
    }));
    own.extend(those(&state.join("runs"), |path, name| {
        // A removal that was interrupted.
        let garbage = name.strip_suffix(".deleted").is_some_and(|id| RunId::new(id).is_some());
        let run = RunId::new(name).is_some() && path.join("lock").is_file();
        is_directory(path) && (run || garbage)
    }));
    own
}

/// Settings that can be read, recipes and agents: where the directory has our name, or a journal is
/// beside it.
fn in_config(env: &Environment) -> Vec<PathBuf> {
    let config = &env.directories.config;
    let named = config.file_name().is_some_and(|name| name == "towpath");
    if !named && !env.directories.state.join(JOURNAL).is_file() {
        return Vec::new();
    }
    let settings = named || Settings::gather(env, None).is_ok();
    let mut own = those(config, |path, name| name == USER_FILE && settings && path.is_file());
    for (folder, endings) in [("recipes", &["yaml", "yml"][..]), ("agents", &["md"])] {
        let ends = |path: &Path| endings.iter().any(|e| path.extension() == Some(OsStr::new(e)));
        own.extend(those(&config.join(folder), |path, _| ends(path) && path.is_file()));
    }
    own
}

/// The demo, and copies of other repositories by the digest of their address.
fn in_cache(cache: &Path) -> Vec<PathBuf> {
    let mut own =
        those(&cache.join("demo"), |_, name| matches!(name, "wordcount" | "answers.jsonl"));
    own.extend(those(&cache.join("recipes"), |_, name| {
        let digest = name.strip_suffix(".git").or(name.strip_suffix(".lock"));
        digest.is_some_and(|d| d.len() >= 16 && d.bytes().all(|b| b.is_ascii_hexdigit()))
    }));
    own
}

/// The runs that a process owns, by their locks alone: the journal may be damaged.
pub fn active_runs(state: &Path) -> Vec<(String, Holder)> {
    let runs = std::fs::read_dir(state.join("runs")).into_iter().flatten().flatten();
    let active = runs.filter_map(|run| {
        let holder = RunLock::holder(&run.path().join("lock"))?;
        Some((run.file_name().to_string_lossy().into_owned(), holder))
    });
    active.collect()
}

//! Where recipes are looked for by name, and what is there. A name never leaves the directory it
//! is looked for in, symbolic links included. Directories come from the caller: nothing here knows
//! the home directory or the environment.

use crate::builtin_recipes::{all_names, builtin, builtin_names};
use crate::dialect::Dialect;
use crate::include_files::{BUILT_IN, IncludeFiles};
use crate::read::{ReadContext, STEPS_FILE, read_in_context};
use crate::recipe_file::{
    self, EXTENSIONS, LIST_DEPTH, RecipeFile, Refusal, names_below, stays_below,
};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use towpath_core::{Diagnostic, Map, Source, is_safe_name, nearest};

/// Who vouches for a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file that the user named.
    Named,
    /// A directory given on the command line or in the directories variable.
    Given,
    /// The user's own recipe directories.
    User,
    /// Found in the working tree: written by whoever wrote that tree.
    Project,
    BuiltIn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchDir {
    pub path: PathBuf,
    pub origin: Origin,
}

/// The directories in which names are looked for, the first one first. Built-ins come last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPath {
    pub directories: Vec<SearchDir>,
    /// Where agents are looked for.
    pub agents: Vec<SearchDir>,
}

impl SearchPath {
    /// Directories that the user has named: what is in them may run.
    pub fn given<P: Into<PathBuf>>(directories: impl IntoIterator<Item = P>) -> SearchPath {
        let given = |path: P| SearchDir { path: path.into(), origin: Origin::Given };
        SearchPath { directories: directories.into_iter().map(given).collect(), agents: Vec::new() }
    }
}

/// One recipe that a name can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The word that the user types to run it.
    pub name: String,
    pub version: String,
    /// The label of a state machine; none for a step recipe.
    pub label: Option<String>,
    pub description: String,
    /// None for a built-in.
    pub path: Option<PathBuf>,
    pub origin: Origin,
    /// Why it cannot be run.
    pub broken: Option<String>,
    /// Another recipe of this name is found first.
    pub shadowed: bool,
    pub steps: usize,
}

/// All recipes of the search path and the built-in ones, in the order in which they are found.
pub fn list(search: &SearchPath) -> Vec<Listed> {
    list_in(search, Dialect::default())
}

/// The same, read by the rules of a dialect.
pub fn list_in(search: &SearchPath, dialect: Dialect) -> Vec<Listed> {
    let mut entries = Vec::new();
    for directory in &search.directories {
        match names_below(&directory.path, LIST_DEPTH) {
            Ok(names) => {
                let base = directory.path.canonicalize().ok().map(Arc::from);
                let file =
                    |(name, path)| Candidate::File { name, path, directory, base: base.clone() };
                entries.extend(names.into_iter().map(file));
            }
            // Default directories need not exist; one that was given should.
            Err(error) if error.kind() == ErrorKind::NotFound && !is_given(directory) => {}
            Err(error) => entries.push(Candidate::Unreadable { directory, error }),
        }
    }
    entries.extend(builtin_names().map(Candidate::BuiltIn));
    let mut seen = HashSet::new();
    let mut listed = Vec::new();
    for (entry, read) in entries.iter().zip(read_all(&entries, dialect)) {
        let Some(recipe) = read else { continue };
        let is_directory = matches!(entry, Candidate::Unreadable { .. });
        let shadowed = !is_directory && !seen.insert(recipe.name.clone());
        listed.push(Listed { shadowed, ..recipe });
    }
    listed
}

/// The recipes right in the working directory, where a name is looked for last. Its other files may be
/// anything: what cannot be read as a recipe is no recipe.
pub fn list_in_working_directory(path: &Path, dialect: Dialect) -> Vec<Listed> {
    let directory = SearchDir { path: path.to_owned(), origin: Origin::Project };
    let base: Option<Arc<Path>> = path.canonicalize().ok().map(Arc::from);
    let names = names_below(path, 1).unwrap_or_default().into_iter();
    let file =
        |(name, path)| Candidate::File { name, path, directory: &directory, base: base.clone() };
    let candidates: Vec<Candidate<'_>> = names.map(file).collect();
    let read = read_all(&candidates, dialect).into_iter().flatten();
    read.filter(|listed| listed.broken.is_none()).collect()
}

/// Something that was found on the search path, not read yet.
enum Candidate<'a> {
    /// `base`: the real path of the directory.
    File {
        name: String,
        path: PathBuf,
        directory: &'a SearchDir,
        base: Option<Arc<Path>>,
    },
    Unreadable {
        directory: &'a SearchDir,
        error: std::io::Error,
    },
    BuiltIn(&'static str),
}

impl Candidate<'_> {
    fn read(&self, dialect: Dialect) -> Option<Listed> {
        match self {
            Candidate::File { name, path, directory, base } => {
                listed_file(name, path, directory, base.as_deref(), dialect)
            }
            Candidate::Unreadable { directory, error } => {
                Some(unreadable_directory(directory, error))
            }
            Candidate::BuiltIn(name) => Some(listed_builtin(name)),
        }
    }
}

/// As much as a main thread usually has: recipes may be nested deeply.
const STACK: usize = 8 << 20;

/// Reads every entry, in as many threads as there are processors: nearly all of the time of a long list
/// is spent in the parser.
fn read_all(entries: &[Candidate<'_>], dialect: Dialect) -> Vec<Option<Listed>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = entries.get(at) else { return read };
            read.push((at, entry.read(dialect)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(entries.len());
    let mut read = thread::scope(|scope| {
        // Where no thread can be started, this one reads all of them.
        let start = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let mut read = work();
        for other in others {
            read.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        read
    });
    read.sort_unstable_by_key(|(at, _)| *at);
    read.into_iter().map(|(_, listed)| listed).collect()
}

fn listed_builtin(name: &str) -> Listed {
    let text = builtin(name).unwrap_or_default();
    let source = Source::new(format!("{BUILT_IN}{name}"), text);
    let read = read_with(&source, &IncludeFiles::BuiltIn, Dialect::default());
    described(name.to_owned(), None, Origin::BuiltIn, read)
}

/// The names alone, each once and with who vouches for what is found first. Reads no recipe.
pub fn names(search: &SearchPath) -> Vec<(String, Origin)> {
    let mut names: Vec<(String, Origin)> = Vec::new();
    let mut seen = HashSet::new();
    for directory in &search.directories {
        for (name, _) in names_below(&directory.path, LIST_DEPTH).unwrap_or_default() {
            if seen.insert(name.clone()) {
                names.push((name, directory.origin));
            }
        }
    }
    let built_in = builtin_names().filter(|name| !seen.contains(*name));
    names.extend(built_in.map(|name| (name.to_owned(), Origin::BuiltIn)));
    names
}

fn is_given(directory: &SearchDir) -> bool {
    directory.origin == Origin::Given
}

/// A file of the list; none for one of steps for machines to include.
fn listed_file(
    name: &str,
    path: &Path,
    directory: &SearchDir,
    base: Option<&Path>,
    dialect: Dialect,
) -> Option<Listed> {
    let (name, file) = (name.to_owned(), Some(path.to_owned()));
    let shown = path.display().to_string();
    let loaded = match listed_path(path, directory, base) {
        Ok(real) => recipe_file::load(&real, &shown).map(|source| (real, source)),
        Err(refusal) => Err(refusal.problem(&shown)),
    };
    match loaded {
        Ok((real, source)) => {
            let read = read_with(&source, &IncludeFiles::of_file(&real, &shown), dialect);
            let is_recipe = !read.problems.iter().any(|p| p.code == STEPS_FILE);
            is_recipe.then(|| described(name, file, directory.origin, read))
        }
        Err(problem) => {
            let broken = Some(problem.message);
            Some(Listed { broken, ..blank(name, file, directory.origin) })
        }
    }
}

/// The real path of a listed file. Listing enters no link: only the file itself can be one.
fn listed_path(
    path: &Path,
    directory: &SearchDir,
    base: Option<&Path>,
) -> Result<PathBuf, Refusal> {
    match (base, path.strip_prefix(&directory.path)) {
        (Some(base), Ok(below)) if !path.is_symlink() => Ok(base.join(below)),
        _ => stays_below(&directory.path, path),
    }
}

fn read_with(
    source: &Arc<Source>,
    files_beside: &IncludeFiles<'_>,
    dialect: Dialect,
) -> crate::Read {
    let (files, inputs) = (|path: &str| files_beside.file(path), Map::new());
    let context = ReadContext::of_files(&files, &inputs);
    read_in_context(source, &ReadContext { dialect, ..context })
}

fn unreadable_directory(directory: &SearchDir, error: &std::io::Error) -> Listed {
    let shown = directory.path.display().to_string();
    let broken = Some(recipe_file::unreadable(&shown, error).message);
    let path = Some(directory.path.clone());
    Listed { broken, ..blank(shown, path, directory.origin) }
}

fn blank(name: String, path: Option<PathBuf>, origin: Origin) -> Listed {
    Listed {
        name,
        version: String::new(),
        label: None,
        description: String::new(),
        path,
        origin,
        broken: None,
        shadowed: false,
        steps: 0,
    }
}

fn described(name: String, path: Option<PathBuf>, origin: Origin, read: crate::Read) -> Listed {
    let blank = blank(name, path, origin);
    match read.recipe {
        Some(recipe) => Listed {
            label: recipe.machine().map(|machine| machine.label.clone()),
            version: recipe.version.clone(),
            description: recipe.description.clone(),
            steps: recipe.steps.len(),
            ..blank
        },
        None => {
            let mut errors = read.problems.iter().filter(|p| p.is_error());
            let first = errors.next().map_or("it cannot be read", |p| p.message.as_str());
            let more = errors.count();
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            Listed { broken: Some(format!("{first}{more}")), ..blank }
        }
    }
}

pub(crate) struct Found {
    pub file: RecipeFile,
    pub origin: Origin,
}

/// A directory that was looked into, as the error shows it.
pub(crate) struct Looked {
    pub what: String,
    /// The names that are there.
    pub names: Vec<String>,
}

pub(crate) enum NotFound {
    /// The name itself cannot be one.
    BadName,
    Nowhere(Vec<Looked>),
    /// It is there, but must not or cannot be used.
    Refused(Diagnostic),
}

/// Finds what a name means: in the caller's directory, the search path, the built-ins, and last as
/// a path below the working directory.
pub(crate) fn find(
    name: &str,
    caller: Option<&SearchDir>,
    search: &SearchPath,
    working_dir: &Path,
) -> Result<Found, NotFound> {
    let plain = name.strip_prefix("./").unwrap_or(name);
    if !is_safe_name(stem_of(plain)) {
        return Err(NotFound::BadName);
    }
    for directory in caller.into_iter().chain(&search.directories) {
        if let Some(path) = in_directory(&directory.path, plain, false)? {
            return Ok(Found { file: RecipeFile::OnDisk(path), origin: directory.origin });
        }
    }
    if let Some(known) = all_names().find(|known| *known == plain) {
        return Ok(Found { file: RecipeFile::BuiltIn(known), origin: Origin::BuiltIn });
    }
    if let Some(path) = in_directory(working_dir, plain, true)? {
        return Ok(Found { file: RecipeFile::OnDisk(path), origin: Origin::Project });
    }
    Err(NotFound::Nowhere(looked(caller, search, working_dir)))
}

/// A name without the file ending it may have been written with.
fn stem_of(name: &str) -> &str {
    EXTENSIONS
        .iter()
        .find_map(|extension| name.strip_suffix(extension)?.strip_suffix('.'))
        .unwrap_or(name)
}

/// The real path of a name in a directory. `bare` also tries the name as it is.
fn in_directory(base: &Path, name: &str, bare: bool) -> Result<Option<PathBuf>, NotFound> {
    let mut candidates: Vec<PathBuf> = Vec::new();
    if bare || stem_of(name) != name {
        candidates.push(base.join(name));
    }
    if stem_of(name) == name {
        candidates.extend(EXTENSIONS.iter().map(|e| base.join(format!("{name}.{e}"))));
    }
    let mut found: Option<PathBuf> = None;
    for path in candidates {
        let shown = path.display().to_string();
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => match &found {
                None => found = Some(path),
                Some(first) => return Err(NotFound::Refused(twice(name, first, &path))),
            },
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(NotFound::Refused(recipe_file::unreadable(&shown, &error)));
            }
            _ => {}
        }
    }
    let real = found.map(|path| {
        let shown = path.display().to_string();
        stays_below(base, &path).map_err(|r| NotFound::Refused(r.problem(&shown)))
    });
    real.transpose()
}

fn twice(name: &str, first: &Path, second: &Path) -> Diagnostic {
    let (first, second) = (first.display(), second.display());
    Diagnostic::error("ambiguous-name", format!("`{name}` is both {first} and {second}"))
        .help("move one of them away, or name the file")
}

/// Where a name was looked for, in that order. Of directories that do not exist, only those that the
/// user has named are worth a word.
fn looked(caller: Option<&SearchDir>, search: &SearchPath, working_dir: &Path) -> Vec<Looked> {
    let directories = caller.into_iter().chain(&search.directories);
    let mut seen = HashSet::new();
    let mut looked: Vec<Looked> = directories
        .filter(|directory| seen.insert(directory.path.clone()) && directory.path != working_dir)
        .filter(|directory| directory.origin == Origin::Given || directory.path.exists())
        .map(|directory| looked_into(&directory.path, LIST_DEPTH))
        .collect();
    let names = builtin_names().map(str::to_owned).collect();
    looked.push(Looked { what: "the built-in recipes".to_owned(), names });
    // The working directory is a whole project: only its own files are near enough.
    looked.push(looked_into(working_dir, 1));
    looked
}

fn looked_into(path: &Path, depth: usize) -> Looked {
    match names_below(path, depth) {
        Ok(names) => Looked {
            what: path.display().to_string(),
            names: names.into_iter().map(|(name, _)| name).collect(),
        },
        Err(error) => {
            let gone = error.kind() == ErrorKind::NotFound;
            let why = if gone { "does not exist" } else { "cannot be read" };
            Looked { what: format!("{} ({why})", path.display()), names: Vec::new() }
        }
    }
}

/// The name nearest to what was written, of all that was there.
pub(crate) fn nearest_name<'a>(name: &str, looked: &'a [Looked]) -> Option<&'a str> {
    nearest(name, looked.iter().flat_map(|l| l.names.iter().map(String::as_str)))
}

/// A directory in which names are looked for, and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub path: PathBuf,
    pub origin: Origin,
    pub exists: bool,
    /// How many recipes can be called by name from it.
    pub recipes: usize,
}

/// Which of the search directories exist and have recipes.
pub fn verify_installation(search: &SearchPath) -> Vec<Installed> {
    let look = |directory: &SearchDir| Installed {
        path: directory.path.clone(),
        origin: directory.origin,
        exists: directory.path.is_dir(),
        recipes: names_below(&directory.path, LIST_DEPTH).map_or(0, |names| names.len()),
    };
    search.directories.iter().map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn directories_show_whether_they_exist() {
        let directory = tempfile::tempdir().unwrap();
        let there = directory.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::write(there.join("a.yaml"), "").unwrap();
        fs::write(there.join("a.test.yaml"), "").unwrap();
        let search_dir = |path: PathBuf| SearchDir { path, origin: Origin::Project };
        let search = SearchPath {
            directories: vec![search_dir(there), search_dir(directory.path().join("gone"))],
            ..SearchPath::default()
        };
        let found = verify_installation(&search);
        assert_eq!((found[0].exists, found[0].recipes), (true, 1));
        assert_eq!((found[1].exists, found[1].recipes), (false, 0));
    }
}

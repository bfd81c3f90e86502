//! The directories of one case: a home of its own, the working directory in it, towpath's own
//! state, and what the run is given. Nothing of the user's is in reach by default.

use crate::suite::{Case, Files, Suite};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use towpath_core::SECRETS_VARIABLE;
use towpath_shell::bash::quote;

#[derive(Debug)]
pub struct CaseDirectory {
    pub root: PathBuf,
    pub home: PathBuf,
    /// Where the recipe runs. It is in the home directory, where the search for a project's root
    /// ends.
    pub work: PathBuf,
    given: std::cell::Cell<u32>,
}

/// A file of a case that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CaseFileError {
    #[error("fixture {name}: {error}")]
    Fixture { name: String, error: io::Error },
    #[error("file {name}: {error}")]
    File { name: String, error: io::Error },
    #[error("{path}: {error}", path = path.display())]
    Directory { path: PathBuf, error: io::Error },
}

/// Variables that would let something of the user's, or of a run that started us, into a case.
const FOREIGN: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_PROJECT_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "OLDPWD",
];
const FOREIGN_FAMILIES: &[&str] = &["TOWPATH_", "AMPLIHACK_", "RECIPE_RUNNER_", "GIT_"];
const GIT_SETTINGS: &[(&str, &str)] =
    &[("init.defaultBranch", "main"), ("gc.auto", "0"), ("commit.gpgSign", "false")];

impl CaseDirectory {
    pub fn new(parent: &Path, number: usize, name: &str) -> io::Result<CaseDirectory> {
        let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = name.chars().map(word).take(40).collect();
        let root = parent.join(format!("{number}-{}", name.trim_matches('-')));
        let home = root.join("home");
        let work = home.join("work");
        for directory in [&work, &root.join("tmp")] {
            fs::create_dir_all(directory)?;
        }
        Ok(CaseDirectory { root, home, work, given: std::cell::Cell::new(0) })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The fixture, then the files.
    pub fn fill(&self, suite: &Suite, case: &Case) -> Result<(), CaseFileError> {
        if let Some(fixture) = &case.fixture {
            let name = fixture.text.clone();
            copy(&suite.directory().join(&fixture.text), &self.work)
                .map_err(|error| CaseFileError::Fixture { name, error })?;
        }
        write(&self.work, &case.files)
    }

    /// Bash that copies files into the directory in which it runs. Their texts stay in files of
    /// ours: no text is too long or too strange.
    pub fn copying_script(&self, files: &Files) -> Result<String, CaseFileError> {
        if files.is_empty() {
            return Ok(String::new());
        }
        let number = self.given.replace(self.given.get() + 1);
        let given = self.root.join("given").join(number.to_string());
        fs::create_dir_all(&given)
            .map_err(|error| CaseFileError::Directory { path: given.clone(), error })?;
        write(&given, files)?;
        let mut script = String::new();
        for (path, _) in files.iter().filter(|(_, text)| text.is_none()) {
            script.push_str(&format!("rm -rf -- {} || exit\n", quote(&format!("./{path}"))));
        }
        let from = quote(&format!("{}/.", given.display()));
        script.push_str(&format!("cp -R -- {from} . || exit\n"));
        Ok(script)
    }

    /// The environment of everything that a case starts.
    pub fn environment(
        &self,
        inherited: &[(OsString, OsString)],
        case: &Case,
    ) -> Vec<(OsString, OsString)> {
        let foreign = |name: &OsString| {
            let name = name.to_string_lossy();
            FOREIGN.contains(&name.as_ref())
                || (FOREIGN_FAMILIES.iter().any(|family| name.starts_with(family))
                    && name != SECRETS_VARIABLE)
        };
        let kept = inherited.iter().filter(|(name, _)| !foreign(name)).cloned();
        let mut environment: Vec<(OsString, OsString)> = kept.collect();
        let mut set = |name: &str, value: OsString| {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), value));
        };
        set("HOME", self.home.clone().into());
        set("TMPDIR", self.root.join("tmp").into());
        set("TOWPATH_HOME", self.root.join("towpath").into());
        set("PWD", self.work.clone().into());
        set("GIT_CEILING_DIRECTORIES", self.home.clone().into());
        set("GIT_CONFIG_NOSYSTEM", "1".into());
        for role in ["AUTHOR", "COMMITTER"] {
            set(&format!("GIT_{role}_NAME"), "Towpath Test".into());
            set(&format!("GIT_{role}_EMAIL"), "test@towpath.invalid".into());
        }
        set("GIT_CONFIG_COUNT", GIT_SETTINGS.len().to_string().into());
        for (number, (key, value)) in GIT_SETTINGS.iter().enumerate() {
            set(&format!("GIT_CONFIG_KEY_{number}"), key.into());
            set(&format!("GIT_CONFIG_VALUE_{number}"), value.into());
        }
        for (name, value) in &case.env {
            set(name, value.into());
        }
        environment
    }
}

/// Removes a directory, also where a step has made parts of it read-only.
pub fn remove(directory: &Path) {
    if fs::remove_dir_all(directory).is_err() {
        make_writable(directory);
        // What is left is in the system's temporary directory.
        let _ = fs::remove_dir_all(directory);
    }
}

fn make_writable(directory: &Path) {
    let _ = fs::set_permissions(directory, fs::Permissions::from_mode(0o700));
    let entries = fs::read_dir(directory).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// Writes files below a directory; a text that begins with `#!` is a program.
fn write(directory: &Path, files: &Files) -> Result<(), CaseFileError> {
    for (name, text) in files {
        let path = directory.join(name);
        let done = match text {
            Some(text) => write_one(&path, text),
            None => delete(&path),
        };
        done.map_err(|error| CaseFileError::File { name: name.clone(), error })?;
    }
    Ok(())
}

fn write_one(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)?;
    if text.starts_with("#!") {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn delete(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            fs::create_dir_all(&target)?;
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        } else {
            let what = format!("{} is no file, directory or link", entry.path().display());
            return Err(io::Error::other(what));
        }
    }
    Ok(())
}

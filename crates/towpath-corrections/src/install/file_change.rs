//! One file of a plan: read before anything is decided, and written only if it has not changed since.
//! What was there before our first change is kept beside it, the file is replaced at once with its
//! mode, and a symbolic link stays a link. A file that is read-only is refused.

use crate::Error;
use rustix::fs::{Access, access};
use similar::TextDiff;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_shell::bash::quote;

/// What the name of a backup ends with. No host reads such a file.
const BACKUP: &str = ".towpath-backup";

/// A file as it is, and as it will be. `None` is a file that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// As the host knows it.
    pub path: PathBuf,
    /// The file itself, behind symbolic links.
    target: PathBuf,
    pub before: Option<String>,
    pub after: Option<String>,
    /// A backup of an earlier change is there. It has what the user wrote, and stays.
    has_backup: bool,
}

/// Where earlier contents of a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    pub path: PathBuf,
    /// It is of an earlier change, and stays.
    pub is_older: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Created,
    Changed,
    Removed,
    Unchanged,
}

impl Action {
    pub fn word(self) -> &'static str {
        match self {
            Action::Created => "created",
            Action::Changed => "changed",
            Action::Removed => "removed",
            Action::Unchanged => "unchanged",
        }
    }
}

impl FileChange {
    /// A file as it is now.
    pub fn read(path: &Path) -> Result<FileChange, Error> {
        let failed = |error: std::io::Error| unusable(path, format!(": {error}"));
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if path.symlink_metadata().is_ok() {
                    let error = "it is a symbolic link to a file that does not exist";
                    return Err(failed(std::io::Error::other(error)));
                }
                path.to_owned()
            }
            Err(error) => return Err(failed(error)),
        };
        let before = contents(&target).map_err(failed)?;
        let backup = with_ending(&target, BACKUP).symlink_metadata();
        Ok(FileChange {
            path: path.to_owned(),
            has_backup: backup.is_ok_and(|backup| backup.is_file()),
            target,
            after: before.clone(),
            before,
        })
    }

    pub fn action(&self) -> Action {
        match (&self.before, &self.after) {
            (None, Some(_)) => Action::Created,
            (Some(_), None) => Action::Removed,
            (before, after) if before == after => Action::Unchanged,
            _ => Action::Changed,
        }
    }

    /// The difference, in the lines of `diff -u`.
    pub fn diff(&self, name: &str) -> String {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (before, after) = (text(&self.before), text(&self.after));
        let diff = TextDiff::from_lines(&before, &after);
        let (old, new) = match self.action() {
            Action::Created => ("/dev/null", name),
            Action::Removed => (name, "/dev/null"),
            _ => (name, name),
        };
        diff.unified_diff().context_radius(3).header(old, new).to_string()
    }

    /// The contents, unless there is nothing in them: an empty file is as none.
    pub fn text(&self) -> Option<&str> {
        self.before.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// Where the previous contents are kept when a file is changed: those before our first change.
    pub fn backup(&self) -> Option<Backup> {
        let path = with_ending(&self.target, BACKUP);
        let changes = self.action() == Action::Changed && self.text().is_some();
        changes.then_some(Backup { path, is_older: self.has_backup })
    }

    /// A file that its owner has made read-only is not changed, not even by root.
    pub fn check_writable(&self) -> Result<(), Error> {
        if !matches!(self.action(), Action::Changed | Action::Removed) {
            return Ok(());
        }
        let marked = fs::metadata(&self.target).is_ok_and(|file| file.permissions().readonly());
        if !marked && access(&self.target, Access::WRITE_OK).is_ok() {
            return Ok(());
        }
        let target = quote(&self.target.display().to_string());
        let why = " is read-only: nothing was written; to let towpath change it: chmod u+w";
        Err(unusable(&self.path, format!("{why} {target}")))
    }

    pub fn apply(&self) -> Result<(), Error> {
        let failed = |error: std::io::Error| unusable(&self.path, format!(": {error}"));
        if contents(&self.target).map_err(failed)? != self.before {
            let why = " was changed by another program: nothing was written; try again";
            return Err(unusable(&self.path, why.to_owned()));
        }
        match (self.action(), &self.after) {
            (Action::Unchanged, _) => Ok(()),
            (Action::Removed, _) => fs::remove_file(&self.target),
            (Action::Created, after) => files::create(&self.target, after_bytes(after)),
            (Action::Changed, after) => {
                self.keep_backup().and_then(|()| files::replace(&self.target, after_bytes(after)))
            }
        }
        .map_err(failed)
    }

    fn keep_backup(&self) -> std::io::Result<()> {
        let Some(Backup { path: backup, is_older: false }) = self.backup() else { return Ok(()) };
        // A link that leads elsewhere.
        match fs::remove_file(&backup) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        files::create(&backup, self.before.as_deref().unwrap_or_default().as_bytes())?;
        fs::set_permissions(&backup, fs::metadata(&self.target)?.permissions())
    }
}

/// The problem of a host's file, as it follows the path.
pub(super) fn unusable(path: &Path, why: String) -> Error {
    Error::HostFile { path: path.to_owned(), why }
}

fn after_bytes(after: &Option<String>) -> &[u8] {
    after.as_deref().unwrap_or_default().as_bytes()
}

fn contents(path: &Path) -> std::io::Result<Option<String>> {
    match files::read_text(path, files::MOST_TEXT) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

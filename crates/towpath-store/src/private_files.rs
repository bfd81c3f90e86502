//! The journal's location on disk: private directories and files, made durable.
//! Only what is missing is created; what exists keeps its mode.

use crate::StoreError;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::IntoRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

pub const DATABASE: &str = "journal.db";
pub(crate) const RUNS: &str = "runs";

/// The path with `suffix` added to its last part, whatever bytes it has.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes sure that `dir` is a directory; what has to be created is for its owner alone.
pub(crate) fn private_directory(dir: &Path) -> Result<(), StoreError> {
    if dir.is_dir() {
        return Ok(());
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| StoreError::writing(dir, error))?;
    dir.parent().map_or(Ok(()), sync_directory)
}

/// `Ok(false)` when something of that name is there already.
pub(crate) fn new_private_directory(dir: &Path) -> Result<bool, StoreError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(StoreError::writing(dir, error)),
    }
}

/// SQLite would create the database readable for all; its side files take the mode of this one.
pub(crate) fn private_file(path: &Path) -> Result<(), StoreError> {
    if fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => {
            // Never closed, once in the life of a database: closing it would drop the locks that
            // another thread may have taken on it by now.
            let _kept_open = file.into_raw_fd();
            path.parent().map_or(Ok(()), sync_directory)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => regular(path),
        Err(error) => Err(StoreError::writing(path, error)),
    }
}

fn regular(path: &Path) -> Result<(), StoreError> {
    let found = fs::metadata(path).map_err(|error| StoreError::writing(path, error))?;
    if found.is_file() {
        return Ok(());
    }
    let error = io::Error::other("something that is not a file has its name");
    Err(StoreError::writing(path, error))
}

/// A new name is only safe from a power cut once its directory is on disk. Some file systems
/// cannot sync a directory, and some directories may be written but not opened: then the name is
/// as safe as that directory can make it.
pub(crate) fn sync_directory(dir: &Path) -> Result<(), StoreError> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(dir).and_then(|dir| dir.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(())
        }
        synced => synced.map_err(|error| StoreError::writing(dir, error)),
    }
}

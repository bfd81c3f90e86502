//! One installer of a tool at a time. The system releases the lock of a process that was killed.

use super::tool_directories::ToolDirectories;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub struct InstallLock {
    /// Locked as long as it is open.
    _file: File,
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct LockError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl InstallLock {
    /// Takes the lock of a tool. `waiting` is called once if another process has it.
    pub fn take(
        directories: &ToolDirectories,
        name: &str,
        waiting: &mut dyn FnMut(),
    ) -> Result<InstallLock, LockError> {
        let path = directories.lock(name);
        let mut lock = || -> io::Result<File> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    waiting();
                    file.lock()?;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            Ok(file)
        };
        let file = lock().map_err(|source| LockError { path: path.clone(), source })?;
        Ok(InstallLock { _file: file })
    }
}

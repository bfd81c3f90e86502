//! One installer of a tool at a time. The system releases the lock of a process that was killed.

use super::bin_links::at;
use super::tool_directories::ToolDirectories;
use crate::recipe_values::check_tool_name;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;

#[derive(Debug)]
pub struct InstallLock {
    /// Locked as long as it is open.
    _file: File,
}

impl InstallLock {
    /// Takes the lock of a tool. `waiting` is called once if another process has it.
    pub fn take(
        directories: &ToolDirectories,
        name: &str,
        waiting: &mut dyn FnMut(),
    ) -> io::Result<InstallLock> {
        // A name becomes a path here.
        check_tool_name(name).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let path = directories.lock(name);
        let mut lock = || -> io::Result<File> {
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
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
        Ok(InstallLock { _file: lock().map_err(at(&path))? })
    }
}

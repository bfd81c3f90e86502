//! A directory for the files of running commands, in the state directory. It is removed with its value;
//! what a killed process left is removed by the next one.

use crate::environment::Environment;
use crate::exit_codes_and_errors::CommandError;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use towpath_process::{Acquire, RunLock};

#[derive(Debug)]
pub struct ScratchDirectory {
    pub path: PathBuf,
}

impl ScratchDirectory {
    pub fn new(env: &Environment) -> Result<ScratchDirectory, CommandError> {
        let all = env.directories.state.join("renders");
        let failed = |path: &Path, error: std::io::Error| {
            CommandError::setup(format!("{}: {error}", path.display()))
        };
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder.recursive(true).create(&all).map_err(|error| failed(&all, error))?;
        remove_abandoned(&all);
        let path = all.join(std::process::id().to_string());
        builder.recursive(false).create(&path).map_err(|error| failed(&path, error))?;
        Ok(ScratchDirectory { path })
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories whose processes are gone.
fn remove_abandoned(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(pid) = pid else { continue };
        let own = pid == std::process::id();
        let lock = entry.path().join("lock");
        // A directory without a lock may be one that was made this moment.
        let unused = match lock.exists() {
            true => matches!(RunLock::try_acquire(&lock), Ok(Acquire::Acquired(_))),
            false => !Path::new("/proc").join(pid.to_string()).exists(),
        };
        if own || unused {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

//! A directory for the files of running commands, in the state directory. It is removed with its value;
//! what a killed process left is removed by a later one.

use crate::environment::Environment;
use crate::exit::CommandError;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_process::{Acquire, RunLock};

/// How long a directory may be without a lock: its process is about to take one.
const WITHOUT_LOCK: Duration = Duration::from_secs(600);

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
        // Two containers may share the state directory, and each has a process of this number.
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| failed(&all, std::io::Error::other(error)))?;
        let path = all.join(format!("{:016x}", u64::from_ne_bytes(random)));
        builder.recursive(false).create(&path).map_err(|error| failed(&path, error))?;
        Ok(ScratchDirectory { path })
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories whose lock nobody holds.
fn remove_abandoned(all: &Path) {
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let lock = entry.path().join("lock");
        let made = entry.metadata().and_then(|found| found.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok()).unwrap_or_default();
        let unused = match lock.exists() {
            true => matches!(RunLock::try_acquire(&lock), Ok(Acquire::Acquired(_))),
            false => age > WITHOUT_LOCK,
        };
        if unused {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

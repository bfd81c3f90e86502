//! Deleting runs: their rows and their files.
//!
//! A run is gone for everybody with one commit; its files follow. A directory is marked before
//! that commit, so that what a crash leaves is found and removed by the next sweep, and nothing
//! else ever is: a directory without rows and without the mark is not ours to judge. Which runs
//! may go, and that nobody owns them, is the caller's matter.

use crate::chain::fact_id;
use crate::disk_space::disk_usage;
use crate::facts::run_number;
use crate::private_files::{RUNS, beside, sync_directory};
use crate::{Store, StoreError};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use towpath_core::RunId;

/// Inside a run's directory: its rows are about to go.
pub(crate) const MARK: &str = "deleted";
/// At the end of a directory's name: its rows are gone.
const SUFFIX: &str = ".deleted";

impl Store {
    /// Deletes a run and its files. The caller owns the run.
    pub fn delete_run(&mut self, run: &RunId) -> Result<(), StoreError> {
        let directory = self.run_directory(run);
        if directory.is_dir() {
            let mark = directory.join(MARK);
            let made = OpenOptions::new().create(true).append(true).mode(0o600).open(&mark);
            made.map_err(|error| StoreError::writing(&mark, error))?;
            sync_directory(&directory)?;
        }
        self.commit(|conn| {
            let n = run_number(conn, run)?;
            let facts = (fact_id(n, 0), fact_id(n + 1, 0));
            conn.execute("DELETE FROM facts WHERE id > ?1 AND id < ?2", facts)?;
            conn.execute("DELETE FROM plans WHERE run = ?1", [n])?;
            conn.execute("DELETE FROM runs WHERE n = ?1", [n])?;
            Ok(())
        })?;
        remove(&directory)
    }

    /// Removes the files of runs whose deletion was interrupted; returns their size.
    pub fn sweep_deleted(&mut self) -> Result<u64, StoreError> {
        let runs = self.dir.join(RUNS);
        let entries = match fs::read_dir(&runs) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(StoreError::reading(&runs, error)),
        };
        let mut freed = 0;
        for entry in entries {
            let path = entry.map_err(|error| StoreError::reading(&runs, error))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let gone = match (name.strip_suffix(SUFFIX), RunId::new(name)) {
                (Some(id), _) => RunId::new(id).is_some(),
                (None, Some(id)) => path.join(MARK).exists() && self.run(&id)?.is_none(),
                (None, None) => false,
            };
            if gone {
                freed += disk_usage(&path);
                remove(&path)?;
            }
        }
        Ok(freed)
    }
}

/// Renamed first: an interrupted removal leaves something that is known to be garbage.
fn remove(directory: &Path) -> Result<(), StoreError> {
    let done = |result: io::Result<()>, path: &Path| match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::writing(path, error))
        }
        _ => Ok(()),
    };
    let renamed = directory.to_str().is_some_and(|name| name.ends_with(SUFFIX));
    if renamed {
        return done(fs::remove_dir_all(directory), directory);
    }
    let garbage = beside(directory, SUFFIX);
    done(fs::rename(directory, &garbage), directory)?;
    done(fs::remove_dir_all(&garbage), &garbage)
}

//! Forgetting runs: their rows, their files, and the space both took.
//!
//! A run is gone for everybody with one commit; its files follow. A directory is marked before
//! that commit, so that what a crash leaves is found and removed by the next sweep, and nothing
//! else ever is: a directory without rows and without the mark is not ours to judge. Which runs
//! may go, and that nobody owns them, is the caller's matter.

use crate::error::PathlessError;
use crate::facts::{fact_id, run_number};
use crate::private_files::{RUNS, beside, sync_directory};
use crate::{Store, StoreError};
use rusqlite::{Connection, Params};
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;
use towpath_core::RunId;

/// Inside a run's directory: its rows are about to go.
const MARK: &str = "deleted";
/// At the end of a directory's name: its rows are gone.
const SUFFIX: &str = ".deleted";

/// What became of the space that deleted rows had in the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reclaimed {
    /// Given back to the file system.
    pub returned: u64,
    /// Kept in the database for runs to come.
    pub kept: u64,
}

impl Store {
    /// How much a run takes: its rows, and its files on disk.
    pub fn run_bytes(&self, run: &RunId) -> Result<u64, StoreError> {
        let rows = self.ask(|conn| row_bytes(conn, run_number(conn, run)?))?;
        Ok(rows + disk_usage(&self.run_directory(run)))
    }

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

    /// Gives free pages back to the file system when they are a good part of the database. That
    /// rewrites the whole of it: not while a run is active. Fewer pages stay for later runs, and
    /// so do all when another process uses the database or the disk has no room for the copy.
    pub fn reclaim(&mut self) -> Result<Reclaimed, StoreError> {
        let (free, pages) = self.pages()?;
        if free == 0 || free * 4 < pages {
            return Ok(Reclaimed { returned: 0, kept: free });
        }
        let path = self.path.clone();
        let sql = |error| PathlessError::Sqlite(error).at(&path);
        self.conn.busy_timeout(Duration::from_secs(2)).map_err(sql)?;
        let emptied = self.conn.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        self.conn.busy_timeout(crate::connection::PATIENCE).map_err(sql)?;
        match emptied.map_err(sql) {
            Ok(()) | Err(StoreError::Busy | StoreError::Full { .. }) => {}
            Err(error) => return Err(error),
        }
        let kept = self.pages()?.0;
        Ok(Reclaimed { returned: free.saturating_sub(kept), kept })
    }

    /// Bytes in free pages, and in all.
    pub fn pages(&self) -> Result<(u64, u64), StoreError> {
        self.ask(|conn| {
            let ask = |sql: &str| number(conn, sql, []);
            let size = ask("PRAGMA page_size")?;
            Ok((ask("PRAGMA freelist_count")? * size, ask("PRAGMA page_count")? * size))
        })
    }
}

fn row_bytes(conn: &Connection, n: i64) -> Result<u64, PathlessError> {
    let facts = number(
        conn,
        "SELECT ifnull(sum(octet_length(body) + ifnull(octet_length(stdout), 0)
                + ifnull(octet_length(stderr), 0)), 0)
             FROM facts WHERE id > ?1 AND id < ?2",
        (fact_id(n, 0), fact_id(n + 1, 0)),
    )?;
    let plans = "SELECT ifnull(sum(octet_length(plan)), 0) FROM plans WHERE run = ?1";
    Ok(facts + number(conn, plans, [n])?)
}

fn number(conn: &Connection, sql: &str, values: impl Params) -> Result<u64, PathlessError> {
    let number: i64 = conn.query_row(sql, values, |row| row.get(0))?;
    Ok(number.unsigned_abs())
}

/// What a directory takes on disk; links are not followed, and what cannot be read counts nothing.
pub fn disk_usage(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    let own = found.blocks() * 512;
    if !found.is_dir() {
        return own;
    }
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    own + inside.map(|entry| disk_usage(&entry.path())).sum::<u64>()
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

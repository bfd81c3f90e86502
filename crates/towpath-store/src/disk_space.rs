//! The space that runs take, in the database and on disk, and space given back.

use crate::chain::{fact_id, sync_last_fact};
use crate::error::PathlessError;
use crate::facts::run_number;
use crate::{Store, StoreError};
use rusqlite::{Connection, Params};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;
use towpath_core::RunId;

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

    /// Gives free pages back to the file system when they are a good part of the database. That
    /// rewrites the whole of it: not while a run is active. Fewer pages stay for later runs, and
    /// so do all when another process uses the database or the disk has no room for the copy.
    pub fn reclaim(&mut self) -> Result<Reclaimed, StoreError> {
        let (free, pages) = self.pages()?;
        if free == 0 || free * 4 < pages {
            return Ok(Reclaimed { returned: 0, kept: free });
        }
        self.tidy(Duration::from_secs(2), "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        let kept = self.pages()?.0;
        Ok(Reclaimed { returned: free.saturating_sub(kept), kept })
    }

    /// The end of a run: moves what is in the log into the database, so that a copy of that file alone
    /// has the run, and syncs what is noted beside it. Others that read just now keep the log.
    pub fn settle_run(&mut self, run: &RunId) -> Result<(), StoreError> {
        sync_last_fact(&self.run_directory(run));
        self.tidy(Duration::from_millis(100), "PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Work on the database that can wait, where another process uses it or the disk is full.
    fn tidy(&mut self, patience: Duration, work: &str) -> Result<(), StoreError> {
        let sql = |error| PathlessError::Sqlite(error).at(&self.path);
        self.conn.busy_timeout(patience).map_err(sql)?;
        let done = self.conn.execute_batch(work);
        self.conn.busy_timeout(crate::connection::PATIENCE).map_err(sql)?;
        match done.map_err(sql) {
            Ok(()) | Err(StoreError::Busy | StoreError::Full { .. }) => Ok(()),
            Err(error) => Err(error),
        }
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

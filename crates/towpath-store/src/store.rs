//! The open journal: how it is opened for writing or for looking, and the one way to write.
//!
//! Every write goes through [`Store::commit`]: one transaction that is on disk when it returns, or
//! has left no trace.

use crate::StoreError;
use crate::connection::{self, Access};
use crate::error::PathlessError;
use crate::private_files::{DATABASE, RUNS, beside, private_directory, private_file};
use crate::schema::{self, State};
use rusqlite::{Connection, TransactionBehavior};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use towpath_core::RunId;

/// One open journal. It may be sent to another thread; threads that share it take turns.
#[derive(Debug)]
pub struct Store {
    pub(crate) conn: Connection,
    pub(crate) dir: PathBuf,
    pub(crate) path: PathBuf,
    /// Device and number of the database's file.
    file: Option<(u64, u64)>,
    /// The runs that are recorded here, with the number of their owner.
    pub(crate) owned: BTreeMap<RunId, i64>,
}

impl Store {
    /// Opens the journal in `dir` for writing. Creates what is missing (directories 0700, files
    /// 0600) and upgrades an older database, with a backup beside it. A newer or damaged one is
    /// refused and left as it is.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        Store::open_with(dir, schema::STEPS)
    }

    /// Opens a journal in any file, as [`Store::open`] does. Runs would be kept beside it.
    pub fn open_file(path: &Path) -> Result<Store, StoreError> {
        Store::open_path(absolute(path)?, schema::STEPS)
    }

    pub(crate) fn open_with(dir: &Path, steps: &[&str]) -> Result<Store, StoreError> {
        Store::open_path(absolute(dir)?.join(DATABASE), steps)
    }

    fn open_path(path: PathBuf, steps: &[&str]) -> Result<Store, StoreError> {
        let dir = parent(&path)?;
        private_directory(&dir)?;
        private_file(&path)?;
        refuse_newer_file(&path, steps.len() as i64)?;
        let conn = connection::connect(&path, Access::Write)?;
        schema::upgrade(&conn, &path, steps).map_err(|error| error.at(&path))?;
        connection::prepare_to_write(&conn, &path)?;
        Ok(Store::new(conn, dir, path))
    }

    /// Opens the journal for looking: the record is never changed, upgraded or created. `None`
    /// when there is no database yet.
    pub fn open_for_reading(dir: &Path) -> Result<Option<Store>, StoreError> {
        Store::open_for_reading_with(absolute(dir)?.join(DATABASE), schema::VERSION)
    }

    /// Opens a journal in any file, as [`Store::open_for_reading`] does.
    pub fn open_file_for_reading(path: &Path) -> Result<Option<Store>, StoreError> {
        Store::open_for_reading_with(absolute(path)?, schema::VERSION)
    }

    fn open_for_reading_with(path: PathBuf, known: i64) -> Result<Option<Store>, StoreError> {
        let dir = parent(&path)?;
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::reading(&path, error)),
            Ok(found) if found.is_dir() => {
                return Err(StoreError::reading(&path, io::ErrorKind::IsADirectory.into()));
            }
            Ok(found) if found.len() == 0 => return Ok(None),
            Ok(_) => {}
        }
        refuse_newer_file(&path, known)?;
        let (conn, state) = connect_for_reading(&path)?;
        match state {
            State::Empty => Ok(None),
            State::At(found) if found > known => Err(schema::newer(&path, found, known)),
            State::At(found) if found < known => Err(StoreError::Older { path, found, known }),
            State::At(_) => Ok(Some(Store::new(conn, dir, path))),
        }
    }

    fn new(conn: Connection, dir: PathBuf, path: PathBuf) -> Store {
        conn.set_prepared_statement_cache_capacity(32);
        let file = identity(&path);
        Store { conn, dir, path, file, owned: BTreeMap::new() }
    }

    /// Where everything is.
    pub fn directory(&self) -> &Path {
        &self.dir
    }

    /// Where the run keeps its files: `DIR/runs/ID`.
    pub fn run_directory(&self, run: &RunId) -> PathBuf {
        self.dir.join(RUNS).join(run.as_str())
    }

    /// The run's directory, made again if it was removed.
    pub fn ensure_run_directory(&self, run: &RunId) -> Result<PathBuf, StoreError> {
        let dir = self.run_directory(run);
        private_directory(&dir)?;
        Ok(dir)
    }

    /// Runs `work` in one transaction. The write lock is taken first, so that nothing that `work`
    /// reads can change under it. An error from `work` or from the disk leaves no trace.
    pub(crate) fn commit<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, PathlessError>,
    ) -> Result<T, StoreError> {
        let Store { conn, path, file, .. } = self;
        let committed = || {
            let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            refuse_newer(&transaction, path)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            // SQLite writes on into a file that has no name any more.
            if identity(path) != *file {
                return Err(StoreError::Gone { path: path.clone() }.into());
            }
            Ok(done)
        };
        committed().map_err(|error: PathlessError| error.at(&self.path))
    }

    /// Asks a question; its failure is reported with the database's path.
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, PathlessError>,
    ) -> Result<T, StoreError> {
        question(&self.conn).map_err(|error| error.at(&self.path))
    }
}

fn parent(path: &Path) -> Result<PathBuf, StoreError> {
    let is_directory = || StoreError::reading(path, io::ErrorKind::IsADirectory.into());
    path.parent().map(Path::to_owned).ok_or_else(is_directory)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Another, newer towpath may have upgraded the database while this one has it open.
fn refuse_newer(conn: &Connection, path: &Path) -> Result<(), PathlessError> {
    let mut ask = conn.prepare_cached("PRAGMA user_version")?;
    let version = ask.query_row([], |row| row.get(0))?;
    match version > schema::VERSION {
        true => Err(schema::newer(path, version, schema::VERSION).into()),
        false => Ok(()),
    }
}

/// Without a log beside it the file alone shows its version: a newer one is refused before SQLite
/// puts side files there. It must be SQLite that looks: closing a file of our own would drop the
/// locks that other connections of this process have on it.
fn refuse_newer_file(path: &Path, known: i64) -> Result<(), StoreError> {
    if beside(path, "-wal").exists() || fs::metadata(path).is_ok_and(|file| file.len() == 0) {
        return Ok(());
    }
    let frozen = connection::connect(path, Access::Frozen)?;
    match schema::state(&frozen, path) {
        Ok(State::At(found)) if found > known => Err(schema::newer(path, found, known)),
        // Everything else is reported by the check that also takes locks.
        _ => Ok(()),
    }
}

fn connect_for_reading(path: &Path) -> Result<(Connection, State), StoreError> {
    let open = |access| {
        let conn = connection::connect(path, access)?;
        let state = schema::state(&conn, path).map_err(|error| error.at(path))?;
        Ok((conn, state))
    };
    match open(Access::Read) {
        // On a read-only disk SQLite cannot make the side files that it coordinates through.
        // Without pages in a log it needs none: nobody can be writing there.
        Err(StoreError::Unwritable { .. }) if connection::log_is_empty(path) => {
            open(Access::Frozen)
        }
        other => other,
    }
}

/// A relative path could be taken for a `file:` address by SQLite, and would change its meaning
/// with the current directory.
fn absolute(dir: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(dir).map_err(|error| StoreError::reading(dir, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewFact, NewRun, Summary};
    use std::time::Duration;
    use tempfile::tempdir;

    #[test]
    fn a_journal_locked_by_another_is_busy_and_free_again_afterwards() {
        let directory = tempdir().unwrap();
        let mut store = Store::open(directory.path()).unwrap();
        let new = NewRun {
            recipe: String::new(),
            source: String::new(),
            directory: PathBuf::new(),
            plan: String::new(),
            created_ms: 0,
            summary: Summary::default(),
        };
        let id = RunId::new("7f3k").expect("four letters");
        let run = store.create_run(&new, &mut |_| id.clone(), &[]).unwrap();
        let other = Store::open(directory.path()).unwrap();
        other.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        store.conn.busy_timeout(Duration::from_millis(1)).unwrap();
        let fact = [NewFact::new(0, "noted", "{}")];
        let refused = store.append(&run, &fact, None);
        assert!(matches!(refused, Err(StoreError::Busy)), "{refused:?}");
        other.conn.execute_batch("COMMIT").unwrap();
        store.append(&run, &fact, None).unwrap();
        assert_eq!(store.facts(&run).unwrap().len(), 1);
    }

    #[test]
    fn looking_upgrades_nothing() {
        let directory = tempdir().unwrap();
        drop(Store::open(directory.path()).unwrap());
        let looked =
            Store::open_for_reading_with(directory.path().join(DATABASE), schema::VERSION + 1);
        let Err(StoreError::Older { found, known, .. }) = looked else { panic!("{looked:?}") };
        assert_eq!((found, known), (schema::VERSION, schema::VERSION + 1));
        assert!(Store::open_for_reading(directory.path()).unwrap().is_some());
    }

    #[test]
    fn every_commit_is_synced_and_others_may_look() {
        let directory = tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let ask = |sql: &str| -> String {
            let text = format!("SELECT CAST(({sql}) AS TEXT)");
            store.conn.query_row(&text, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(ask("SELECT journal_mode FROM pragma_journal_mode"), "wal");
        assert_eq!(ask("SELECT synchronous FROM pragma_synchronous"), "2");
        assert_eq!(ask("SELECT foreign_keys FROM pragma_foreign_keys"), "1");
        assert_eq!(ask("SELECT locking_mode FROM pragma_locking_mode"), "normal");
    }
}

//! The tables, and how a database comes to have them: created, or upgraded step by step.
//!
//! An upgrade holds the write lock, keeps a backup beside the file and is one transaction. A
//! database that is newer, or not ours, is refused before anything in it changes.

use crate::StoreError;
use crate::chain::plan_sum;
use crate::connection::{self, Access};
use crate::error::PathlessError;
use crate::facts::seal_facts;
use crate::private_files::{beside, private_file, sync_directory};
use crate::run_summary::seal_row;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::fs::{self, File};
use std::path::Path;
use towpath_core::RunId;

/// The schema that this crate reads and writes.
pub const VERSION: i64 = 5;

/// "Towp": marks the database as ours.
pub(crate) const APPLICATION: i64 = 0x546f_7770;

/// A fact's `id` carries its run and its number, so that the facts of one run lie together and in
/// order without a second index to write on every commit. Outputs come last in the row: what
/// overflows is not read when only the facts are.
const SCHEMA_1: &str = "
CREATE TABLE runs (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    recipe TEXT NOT NULL,
    source TEXT NOT NULL,
    directory BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    status TEXT NOT NULL,
    place TEXT NOT NULL,
    cost_microusd INTEGER,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    active_ms INTEGER NOT NULL,
    steps_done INTEGER NOT NULL,
    steps_skipped INTEGER NOT NULL,
    steps_total INTEGER
) STRICT;
CREATE INDEX runs_by_directory ON runs (directory);

CREATE TABLE plans (
    run INTEGER NOT NULL REFERENCES runs (n),
    version INTEGER NOT NULL,
    plan TEXT NOT NULL,
    PRIMARY KEY (run, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
    id INTEGER PRIMARY KEY CHECK (id = (run << 32) + seq),
    run INTEGER NOT NULL REFERENCES runs (n),
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT,
    body TEXT NOT NULL,
    stdout_len INTEGER,
    stdout_file TEXT,
    stderr_len INTEGER,
    stderr_file TEXT,
    stdout BLOB,
    stderr BLOB
) STRICT;
CREATE INDEX outputs_by_key ON facts (run, key)
    WHERE stdout_len IS NOT NULL OR stderr_len IS NOT NULL;

CREATE TABLE trust (
    path BLOB NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    at_ms INTEGER NOT NULL,
    what TEXT NOT NULL,
    PRIMARY KEY (path, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX trust_by_hash ON trust (hash);
";

/// A sum of what some agent calls cost does not include those that reported nothing.
const SCHEMA_2: &str = "ALTER TABLE runs ADD COLUMN cost_unknown INTEGER NOT NULL DEFAULT 0";

/// `AUTOINCREMENT`, because a rule's number is never given again. A rule with an empty `project` is
/// the user's. In `corrections` the numbers of the rules are joined by commas.
const SCHEMA_3: &str = "
CREATE TABLE rules (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    project BLOB NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    enabled INTEGER NOT NULL DEFAULT 1,
    created_ms INTEGER NOT NULL,
    hits INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project, key)
) STRICT;

CREATE TABLE pause (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    since_ms INTEGER NOT NULL,
    until_ms INTEGER
) STRICT;

CREATE TABLE dismissed_suggestions (
    key TEXT PRIMARY KEY,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_calls (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at_ms INTEGER NOT NULL,
    host TEXT NOT NULL,
    version TEXT,
    session TEXT,
    directory TEXT,
    tool TEXT NOT NULL,
    program TEXT,
    subcommand TEXT,
    input TEXT NOT NULL,
    failed INTEGER NOT NULL,
    exit_code INTEGER,
    error TEXT
) STRICT;
CREATE INDEX tool_calls_by_time ON tool_calls (at_ms);

CREATE TABLE corrections (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at_ms INTEGER NOT NULL,
    host TEXT NOT NULL,
    version TEXT,
    session TEXT,
    directory TEXT,
    rules TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    decision TEXT NOT NULL,
    ran TEXT
) STRICT;
CREATE INDEX corrections_by_time ON corrections (at_ms);
";

/// What is counted of the program's own work; a body is JSON.
const SCHEMA_4: &str = "
CREATE TABLE telemetry (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
";

/// Sums of facts, outputs, plans and rows, and the number of a run's owner. The tables are made again,
/// because outputs and plans must stay last in their rows. The sums are computed by [`seal`].
const SCHEMA_5: &str = "
ALTER TABLE runs ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN sum BLOB NOT NULL DEFAULT x'';

ALTER TABLE plans RENAME TO old_plans;
CREATE TABLE plans (
    run INTEGER NOT NULL REFERENCES runs (n),
    version INTEGER NOT NULL,
    after INTEGER NOT NULL,
    sum BLOB NOT NULL,
    plan TEXT NOT NULL,
    PRIMARY KEY (run, version)
) STRICT, WITHOUT ROWID;
INSERT INTO plans SELECT run, version, 0, x'', plan FROM old_plans;
DROP TABLE old_plans;

ALTER TABLE facts RENAME TO old_facts;
CREATE TABLE facts (
    id INTEGER PRIMARY KEY CHECK (id = (run << 32) + seq),
    run INTEGER NOT NULL REFERENCES runs (n),
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT,
    body TEXT NOT NULL,
    stdout_len INTEGER,
    stdout_file TEXT,
    stdout_sum BLOB,
    stderr_len INTEGER,
    stderr_file TEXT,
    stderr_sum BLOB,
    sum BLOB NOT NULL,
    stdout BLOB,
    stderr BLOB
) STRICT;
INSERT INTO facts SELECT id, run, seq, at_ms, kind, key, body, stdout_len, stdout_file, NULL,
    stderr_len, stderr_file, NULL, x'', stdout, stderr FROM old_facts;
DROP TABLE old_facts;
CREATE INDEX outputs_by_key ON facts (run, key)
    WHERE stdout_len IS NOT NULL OR stderr_len IS NOT NULL;
";
const SEALED: i64 = 5;

/// Entry `n` leads from schema `n` to `n + 1`; the first one makes the tables.
pub(crate) const STEPS: &[&str] = &[SCHEMA_1, SCHEMA_2, SCHEMA_3, SCHEMA_4, SCHEMA_5];

/// What the database records about itself.
pub(crate) enum State {
    Empty,
    At(i64),
}

pub(crate) fn state(conn: &Connection, path: &Path) -> Result<State, PathlessError> {
    // One snapshot for all three questions: another process may be making the tables just now.
    let alone = conn.is_autocommit();
    let _snapshot = alone.then(|| conn.unchecked_transaction()).transpose()?;
    let ask = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    match (ask("PRAGMA application_id")?, ask("PRAGMA user_version")?) {
        (APPLICATION, version) if version > 0 => Ok(State::At(version)),
        (0, 0) if ask("SELECT count(*) FROM sqlite_schema")? == 0 => Ok(State::Empty),
        _ => {
            Err(StoreError::damaged(path, "it is a database, but not a journal of towpath").into())
        }
    }
}

/// Brings the database to the last of `steps`; does nothing when it is there already.
pub(crate) fn upgrade(conn: &Connection, path: &Path, steps: &[&str]) -> Result<(), PathlessError> {
    let known = steps.len() as i64;
    if current(conn, path, known)? == known {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited for the lock.
    let from = current(&transaction, path, known)?;
    if from == known {
        return Ok(());
    }
    if from > 0 {
        backup(path, from)?;
    }
    for step in &steps[from as usize..] {
        transaction.execute_batch(step)?;
    }
    if from < SEALED && known >= SEALED {
        seal(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", known)?;
    Ok(transaction.commit()?)
}

/// Gives a record from before there were sums those of what is in it. All plans become links before
/// the first fact. Files of outputs get none: what they contained is not known.
fn seal(conn: &Connection) -> Result<(), PathlessError> {
    for (n, id) in numbered(conn, "SELECT n, id FROM runs WHERE ?1 = 0", 0)? {
        seal_row(conn, n)?;
        // An impossible id is reported by whoever reads the row.
        let Some(run) = RunId::new(&id) else { continue };
        for (version, plan) in numbered(conn, "SELECT version, plan FROM plans WHERE run = ?1", n)?
        {
            let sum = plan_sum(&run, version as u32, &plan);
            conn.prepare_cached("UPDATE plans SET sum = ?3 WHERE run = ?1 AND version = ?2")?
                .execute((n, version, sum))?;
        }
        seal_facts(conn, n, &run)?;
    }
    Ok(())
}

fn numbered(conn: &Connection, sql: &str, n: i64) -> Result<Vec<(i64, String)>, PathlessError> {
    let mut ask = conn.prepare_cached(sql)?;
    let rows = ask.query_map([n], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The schema found, 0 for an empty database, refused when it is beyond `known`.
fn current(conn: &Connection, path: &Path, known: i64) -> Result<i64, PathlessError> {
    match state(conn, path)? {
        State::Empty => Ok(0),
        State::At(found) if found > known => Err(newer(path, found, known).into()),
        State::At(found) => Ok(found),
    }
}

pub(crate) fn newer(path: &Path, found: i64, known: i64) -> StoreError {
    StoreError::Newer { path: path.to_owned(), found, known }
}

/// Copies the committed state through a second connection; the caller's write lock keeps everybody
/// else from changing it meanwhile. The name appears only once the copy is complete and on disk.
fn backup(path: &Path, version: i64) -> Result<(), StoreError> {
    let target = beside(path, &format!(".schema-{version}.backup"));
    let partial = beside(&target, ".partial");
    let io = |error| StoreError::writing(&target, error);
    if partial.exists() {
        fs::remove_file(&partial).map_err(io)?;
    }
    private_file(&partial)?;
    let source = connection::connect(path, Access::Write)?;
    // Bound as bytes, because a path need not be UTF-8.
    let name = ValueRef::Text(partial.as_os_str().as_encoded_bytes());
    let copied = source.execute("VACUUM INTO ?1", [ToSqlOutput::Borrowed(name)]);
    copied.map_err(|error| PathlessError::from(error).at(&partial))?;
    File::open(&partial).and_then(|copy| copy.sync_all()).map_err(io)?;
    fs::rename(&partial, &target).map_err(io)?;
    target.parent().map_or(Ok(()), sync_directory)
}

#[cfg(test)]
mod tests {
    use crate::{Store, StoreError};
    use rusqlite::Connection;
    use std::fs;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use tempfile::tempdir;

    const OLD: &str = "CREATE TABLE notes (text TEXT) STRICT";
    const NEW: &str = "ALTER TABLE notes ADD COLUMN at_ms INTEGER NOT NULL DEFAULT 7";
    const BROKEN: &str = "INSERT INTO notes VALUES ('half'); ALTER TABLE nothing ADD COLUMN a";

    fn notes(path: &Path, sql: &str) -> Vec<String> {
        let conn = Connection::open(path).unwrap();
        let mut ask = conn.prepare(sql).unwrap();
        let rows = ask.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    fn old_journal(dir: &Path) {
        let store = Store::open_with(dir, &[OLD]).unwrap();
        store.conn.execute("INSERT INTO notes VALUES ('kept')", []).unwrap();
    }

    fn version(dir: &Path) -> i64 {
        let conn = Connection::open(dir.join("journal.db")).unwrap();
        conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_upgrade_keeps_what_was_there_and_a_backup_of_it() {
        let directory = tempdir().unwrap();
        let dir = directory.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9 '?"));
        old_journal(&dir);
        drop(Store::open_with(&dir, &[OLD, NEW]).unwrap());
        assert_eq!(version(&dir), 2);
        let both = "SELECT text || at_ms FROM notes";
        assert_eq!(notes(&dir.join("journal.db"), both), ["kept7"]);
        let backup = dir.join("journal.db.schema-1.backup");
        assert_eq!(notes(&backup, "SELECT text FROM notes"), ["kept"]);
        assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
        let restored = directory.path().join("restored");
        fs::create_dir(&restored).unwrap();
        fs::copy(&backup, restored.join("journal.db")).unwrap();
        assert_eq!(version(&restored), 1);
        drop(Store::open_with(&restored, &[OLD]).unwrap());
    }

    #[test]
    fn an_upgrade_that_fails_changes_nothing_and_can_be_tried_again() {
        let directory = tempdir().unwrap();
        old_journal(directory.path());
        let failed = Store::open_with(directory.path(), &[OLD, NEW, BROKEN]);
        assert!(matches!(failed, Err(StoreError::Sqlite { .. })), "{failed:?}");
        assert_eq!(version(directory.path()), 1);
        let path = directory.path().join("journal.db");
        assert_eq!(notes(&path, "SELECT text FROM notes"), ["kept"]);
        fs::write(directory.path().join("journal.db.schema-1.backup.partial"), "interrupted")
            .unwrap();
        drop(Store::open_with(directory.path(), &[OLD, NEW]).unwrap());
        assert_eq!(version(directory.path()), 2);
        let backup = directory.path().join("journal.db.schema-1.backup");
        assert_eq!(notes(&backup, "SELECT text FROM notes"), ["kept"]);
        assert!(!directory.path().join("journal.db.schema-1.backup.partial").exists());
    }

    #[test]
    fn upgrades_at_the_same_moment_happen_once() {
        let directory = tempdir().unwrap();
        old_journal(directory.path());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| Store::open_with(directory.path(), &[OLD, NEW]).map(drop).unwrap());
            }
        });
        let backup = directory.path().join("journal.db.schema-1.backup");
        assert_eq!(notes(&backup, "SELECT text FROM notes"), ["kept"]);
        assert_eq!(notes(&backup, "SELECT name FROM pragma_table_info('notes')"), ["text"]);
    }

    #[test]
    fn the_version_counts_the_steps() {
        assert_eq!(super::STEPS.len() as i64, super::VERSION);
    }
}

//! The aliases of `dp`, from every version of its database.

use rusqlite::Connection;
use std::fs;
use std::path::Path;
use towpath_store::{DpAliasRow, StoreError, read_dp_aliases};

const FIRST: &str = "CREATE TABLE schema_version (version INTEGER NOT NULL);
    CREATE TABLE aliases (from_name TEXT PRIMARY KEY, to_name TEXT NOT NULL, created_at TEXT NOT NULL);
    INSERT INTO aliases VALUES ('read_file', 'Read', '2026-02-10T18:00:00.000000001Z');
    INSERT INTO schema_version VALUES (1);";

fn third(table: &str) -> String {
    format!(
        "CREATE TABLE {table} (
            from_name TEXT NOT NULL, to_name TEXT NOT NULL, tool TEXT NOT NULL DEFAULT '',
            param TEXT NOT NULL DEFAULT '', command TEXT NOT NULL DEFAULT '',
            match_kind TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '',
            created_at TEXT NOT NULL,
            PRIMARY KEY (from_name, tool, param, command, match_kind));
         INSERT INTO {table} VALUES ('read_file', 'Read', '', '', '', '', '', '2026-02-10T18:00:00Z');
         INSERT INTO {table} VALUES ('gt x', 'a' || char(10) || 'b', 'Bash', 'command', 'gt', 'recipe',
            'why', '2026-02-10T19:00:00Z');"
    )
}

fn tool_name() -> DpAliasRow {
    DpAliasRow { from: "read_file".into(), to: "Read".into(), ..DpAliasRow::default() }
}

fn recipe() -> DpAliasRow {
    DpAliasRow {
        from: "gt x".into(),
        to: "a\nb".into(),
        tool: "Bash".into(),
        param: "command".into(),
        command: "gt".into(),
        match_kind: "recipe".into(),
        message: "why".into(),
    }
}

fn database(path: &Path, sql: &str) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(sql).unwrap();
    conn
}

#[test]
fn every_version_is_read_and_nothing_is_written() {
    for (sql, expected) in [
        (FIRST.to_owned(), vec![tool_name()]),
        (third("aliases"), vec![tool_name(), recipe()]),
        (third("aliases_v3"), vec![tool_name(), recipe()]),
        (FIRST.to_owned() + &third("aliases_v3"), vec![tool_name(), recipe()]),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("desires.db");
        drop(database(&path, &sql));
        let before = fs::read(&path).unwrap();
        let found = read_dp_aliases(&path).unwrap();
        assert_eq!((found.rows, found.unreadable), (expected, vec![]));
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

#[test]
fn what_a_running_dp_has_in_its_log_is_read_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("desires.db");
    let open = database(&path, "PRAGMA journal_mode = WAL;");
    open.execute_batch(&third("aliases")).unwrap();
    assert_eq!(read_dp_aliases(&path).unwrap().rows.len(), 2);
}

#[test]
fn a_row_that_is_no_text_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("desires.db");
    let rows = "INSERT INTO aliases VALUES ('odd', x'ff', '', '', '', '', '', 'x'), ('n', 5, '', '', \
                '', '', x'', 'x');";
    drop(database(&path, &(third("aliases") + rows)));
    let found = read_dp_aliases(&path).unwrap();
    assert_eq!(found.rows, [tool_name(), recipe()]);
    assert_eq!(
        found.unreadable,
        ["`to_name` of \"odd\" is no text", "`message` of \"n\" is no text"]
    );
}

#[test]
fn other_files_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.db");
    assert!(matches!(read_dp_aliases(&path), Err(StoreError::Io { .. })));
    fs::write(&path, "no database, by no means at all").unwrap();
    assert!(read_dp_aliases(&path).is_err());
    fs::remove_file(&path).unwrap();
    drop(database(&path, "CREATE TABLE t (a);"));
    let error = read_dp_aliases(&path).unwrap_err().to_string();
    assert!(error.contains("not one of dp"), "{error}");
    let gone = fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(gone, 1);
}

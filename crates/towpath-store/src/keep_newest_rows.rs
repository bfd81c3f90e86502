//! Counts in the answers of SQLite, and how many rows of recorded calls are kept.

use crate::error::PathlessError;
use rusqlite::{Connection, Row};

/// An agent makes some hundred calls a day: this is a year of them.
pub(crate) const MOST_ROWS: i64 = 100_000;

/// SQLite has no unsigned numbers; a count is never below zero.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

/// Removes all but the newest rows of a table whose numbers `n` only grow.
pub(crate) fn forget_old(conn: &Connection, table: &str) -> Result<(), PathlessError> {
    let sql = format!("DELETE FROM {table} WHERE n <= (SELECT max(n) FROM {table}) - ?1");
    conn.prepare_cached(&sql)?.execute([MOST_ROWS])?;
    Ok(())
}

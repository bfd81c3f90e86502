//! What the tables of recorded calls have in common: conditions that were asked for, counts in the
//! answers, and the number of rows that are kept.

use crate::error::PathlessError;
use rusqlite::{Connection, Row, ToSql};

/// An agent makes some hundred calls a day: this is a year of them.
pub(crate) const MOST_ROWS: i64 = 100_000;

/// The conditions of a `WHERE`, in the order of their values.
#[derive(Default)]
pub(crate) struct Narrowed<'a> {
    conditions: Vec<String>,
    values: Vec<Box<dyn ToSql + 'a>>,
}

impl<'a> Narrowed<'a> {
    /// Adds `condition`, in which `?` is the value, if there is a value.
    pub(crate) fn by<T: ToSql + 'a>(mut self, condition: &str, value: Option<T>) -> Narrowed<'a> {
        if let Some(value) = value {
            self.conditions.push(condition.to_owned());
            self.values.push(Box::new(value));
        }
        self
    }

    /// Adds a condition without a value, if it is wanted.
    pub(crate) fn only(mut self, condition: &str, wanted: bool) -> Narrowed<'a> {
        if wanted {
            self.conditions.push(condition.to_owned());
        }
        self
    }

    /// `WHERE …`, or nothing when all rows are wanted.
    pub(crate) fn clause(&self) -> String {
        match self.conditions.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", self.conditions.join(" AND ")),
        }
    }

    pub(crate) fn values(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(AsRef::as_ref).collect()
    }
}

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

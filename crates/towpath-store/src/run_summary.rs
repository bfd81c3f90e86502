//! What a list of runs shows of each, kept in the run's row and written with the facts that change it.

use crate::chain::{sum_of, values};
use crate::error::PathlessError;
use rusqlite::{Connection, params};
use towpath_core::RunStatus;

/// What a list of runs shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    pub status: RunStatus,
    /// What is known of it. `None`: nobody reported one.
    pub cost_microusd: Option<i64>,
    /// An agent call did not report what it cost.
    pub cost_unknown: bool,
    pub started_ms: i64,
    pub ended_ms: Option<i64>,
    /// Time in which a runner was alive.
    pub active_ms: i64,
    pub steps_done: u32,
    pub steps_skipped: u32,
    /// `None`: not set in the recipe.
    pub steps_total: Option<u32>,
}

pub(crate) fn write_summary(conn: &Connection, n: i64, s: &Summary) -> Result<(), PathlessError> {
    conn.prepare_cached(
        "UPDATE runs SET status = ?2, place = ?3, cost_microusd = ?4, started_ms = ?5,
                ended_ms = ?6, active_ms = ?7, steps_done = ?8, steps_skipped = ?9,
                steps_total = ?10, cost_unknown = ?11
             WHERE n = ?1",
    )?
    .execute(params![
        n,
        s.status.as_str(),
        s.status.location(),
        s.cost_microusd,
        s.started_ms,
        s.ended_ms,
        s.active_ms,
        s.steps_done,
        s.steps_skipped,
        s.steps_total,
        s.cost_unknown,
    ])?;
    seal_row(conn, n)
}

/// The columns that the sum of a row is made of.
pub(crate) const RUN_COLUMNS: &str = "id, recipe, source, directory, created_ms, status, place,
    cost_microusd, started_ms, ended_ms, active_ms, steps_done, steps_skipped, steps_total,
    cost_unknown";
pub(crate) const SUMMED: usize = 15;

/// Writes the sum of a run's row, once all else is in it.
pub(crate) fn seal_row(conn: &Connection, n: i64) -> Result<(), PathlessError> {
    let sql = format!("SELECT {RUN_COLUMNS} FROM runs WHERE n = ?1");
    let sum = conn
        .prepare_cached(&sql)?
        .query_row([n], |row| Ok(sum_of(b"run", values(row, SUMMED)?)))?;
    conn.prepare_cached("UPDATE runs SET sum = ?2 WHERE n = ?1")?.execute((n, sum))?;
    Ok(())
}

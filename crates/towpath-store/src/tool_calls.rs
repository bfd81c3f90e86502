//! Calls of agents' tools, as hooks and failed steps recorded them.
//!
//! A call has an id of its recorder: recorded again, it stays as it is. Which secrets were removed
//! from it, and what its input means, is the caller's matter.

use crate::error::PathlessError;
use crate::keep_newest_rows::{count, forget_old};
use crate::where_clause::WhereClause;
use crate::{Store, StoreError};
use rusqlite::{Connection, Row, params};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCallRow {
    pub id: String,
    pub at_ms: i64,
    pub host: String,
    pub version: Option<String>,
    pub session: Option<String>,
    pub directory: Option<String>,
    pub tool: String,
    /// Of a shell command.
    pub program: Option<String>,
    pub subcommand: Option<String>,
    pub input: String,
    pub failed: bool,
    pub exit_code: Option<i64>,
    pub error: Option<String>,
}

/// Which calls to list; what is `None` does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCallFilter {
    pub since_ms: Option<i64>,
    pub host: Option<String>,
    pub session: Option<String>,
    pub tool: Option<String>,
    pub program: Option<String>,
    pub failed_only: bool,
    /// At most so many, of those that come first.
    pub limit: Option<u32>,
    pub order: Order,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    NewestFirst,
    OldestFirst,
}

impl Order {
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Order::NewestFirst => "at_ms DESC, n DESC",
            Order::OldestFirst => "at_ms, n",
        }
    }
}

/// What calls are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountBy {
    Host,
    Session,
    Directory,
    Tool,
    Program,
}

/// How many calls have a value in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallCount {
    /// Empty for calls without one.
    pub value: String,
    pub calls: u64,
    pub failed: u64,
    pub sessions: u64,
    pub first_ms: i64,
    pub last_ms: i64,
}

const COLUMNS: &str = "id, at_ms, host, version, session, directory, tool, program, subcommand,
    input, failed, exit_code, error";

impl Store {
    /// Records calls in one commit; returns how many were new. The newest 100,000 are kept.
    pub fn tool_calls_add(&mut self, calls: &[ToolCallRow]) -> Result<usize, StoreError> {
        self.commit(|conn| {
            let mut new = 0;
            for call in calls {
                new += insert(conn, call)?;
            }
            forget_old(conn, "tool_calls")?;
            Ok(new)
        })
    }

    pub fn tool_calls(&self, filter: &ToolCallFilter) -> Result<Vec<ToolCallRow>, StoreError> {
        let limit = filter.limit.map_or(-1, i64::from);
        let narrowed = filter.narrowed();
        let sql = format!(
            "SELECT {COLUMNS} FROM tool_calls {} ORDER BY {} LIMIT {limit}",
            narrowed.clause(),
            filter.order.sql()
        );
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(&sql)?;
            let rows = ask.query_map(&narrowed.values()[..], tool_call)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The calls that pass the filter, counted; the most frequent first. The filter's limit is on
    /// the counts.
    pub fn tool_call_counts(
        &self,
        filter: &ToolCallFilter,
        by: CountBy,
    ) -> Result<Vec<CallCount>, StoreError> {
        let column = match by {
            CountBy::Host => "host",
            CountBy::Session => "session",
            CountBy::Directory => "directory",
            CountBy::Tool => "tool",
            CountBy::Program => "program",
        };
        let limit = filter.limit.map_or(-1, i64::from);
        let narrowed = filter.narrowed();
        let sql = format!(
            "SELECT ifnull({column}, '') AS value, count(*) AS calls, sum(failed),
                    count(DISTINCT session), min(at_ms), max(at_ms)
             FROM tool_calls {} GROUP BY value ORDER BY calls DESC, value LIMIT {limit}",
            narrowed.clause()
        );
        self.ask(|conn| {
            let mut ask = conn.prepare_cached(&sql)?;
            let rows = ask.query_map(&narrowed.values()[..], call_count)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

impl ToolCallFilter {
    fn narrowed(&self) -> WhereClause<'_> {
        WhereClause::default()
            .by("at_ms >= ?", self.since_ms)
            .by("host = ?", self.host.as_deref())
            .by("session = ?", self.session.as_deref())
            .by("tool = ?", self.tool.as_deref())
            .by("program = ?", self.program.as_deref())
            .only("failed = 1", self.failed_only)
    }
}

fn insert(conn: &Connection, call: &ToolCallRow) -> Result<usize, PathlessError> {
    let sql = format!(
        "INSERT OR IGNORE INTO tool_calls ({COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    );
    let added = conn.prepare_cached(&sql)?.execute(params![
        call.id,
        call.at_ms,
        call.host,
        call.version,
        call.session,
        call.directory,
        call.tool,
        call.program,
        call.subcommand,
        call.input,
        call.failed,
        call.exit_code,
        call.error,
    ])?;
    Ok(added)
}

fn tool_call(row: &Row<'_>) -> rusqlite::Result<ToolCallRow> {
    Ok(ToolCallRow {
        id: row.get(0)?,
        at_ms: row.get(1)?,
        host: row.get(2)?,
        version: row.get(3)?,
        session: row.get(4)?,
        directory: row.get(5)?,
        tool: row.get(6)?,
        program: row.get(7)?,
        subcommand: row.get(8)?,
        input: row.get(9)?,
        failed: row.get(10)?,
        exit_code: row.get(11)?,
        error: row.get(12)?,
    })
}

fn call_count(row: &Row<'_>) -> rusqlite::Result<CallCount> {
    Ok(CallCount {
        value: row.get(0)?,
        calls: count(row, 1)?,
        failed: count(row, 2)?,
        sessions: count(row, 3)?,
        first_ms: row.get(4)?,
        last_ms: row.get(5)?,
    })
}

//! Facts: appended in order, never changed, given back as they were.
//!
//! Appending is the path every step of every run goes through twice: one transaction, statements
//! prepared once. A fact's number counts within its run and starts at 1.

use crate::error::PathlessError;
use crate::outputs::{OutputRef, StoredOutput};
use crate::run_summary::{Summary, write_summary};
use crate::{Store, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use towpath_core::RunId;

/// A fact to record. `body` is JSON that only its writer understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFact {
    pub at_ms: i64,
    pub kind: &'static str,
    /// The key of the job it is about.
    pub key: Option<String>,
    pub body: String,
    pub stdout: Option<OutputRef>,
    pub stderr: Option<OutputRef>,
}

impl NewFact {
    /// A fact about no job, without outputs.
    pub fn new(at_ms: i64, kind: &'static str, body: impl Into<String>) -> NewFact {
        NewFact { at_ms, kind, key: None, body: body.into(), stdout: None, stderr: None }
    }

    fn outputs(&self) -> impl Iterator<Item = &OutputRef> {
        self.stdout.iter().chain(&self.stderr)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFact {
    pub seq: u32,
    pub at_ms: i64,
    pub kind: String,
    pub key: Option<String>,
    pub body: String,
    pub stdout: Option<StoredOutput>,
    pub stderr: Option<StoredOutput>,
}

impl Store {
    /// Records `facts`, and the run's new summary if there is one, in one commit: when it returns
    /// they are on disk, when it fails none of them is.
    pub fn append(
        &mut self,
        run: &RunId,
        facts: &[NewFact],
        summary: Option<&Summary>,
    ) -> Result<(), StoreError> {
        self.commit(|conn| {
            let n = run_number(conn, run)?;
            insert_facts(conn, n, facts)?;
            summary.map_or(Ok(()), |summary| write_summary(conn, n, summary))
        })?;
        self.remove_collected(run, facts);
        Ok(())
    }

    /// All facts of the run in order, for replay: a small stdout comes with its bytes, every other
    /// output with its length and location.
    pub fn facts(&self, run: &RunId) -> Result<Vec<StoredFact>, StoreError> {
        self.whole_facts_after(run, 0)
    }

    /// The facts after number `after` (0: all), for showing and following: outputs only with their
    /// lengths and locations.
    pub fn facts_after(&self, run: &RunId, after: u32) -> Result<Vec<StoredFact>, StoreError> {
        self.load(run, after, WITHOUT_OUTPUTS)
    }

    /// The facts after number `after`, for a replay that continues.
    pub fn whole_facts_after(
        &self,
        run: &RunId,
        after: u32,
    ) -> Result<Vec<StoredFact>, StoreError> {
        self.load(run, after, WITH_STDOUT)
    }

    fn load(&self, run: &RunId, after: u32, sql: &str) -> Result<Vec<StoredFact>, StoreError> {
        self.ask(|conn| {
            let n = run_number(conn, run)?;
            let mut ask = conn.prepare_cached(sql)?;
            let with_stdout = ask.column_count() > OUTLINE_COLUMNS;
            let range = (fact_id(n, after), fact_id(n + 1, 0));
            let facts = ask.query_map(range, |row| stored_fact(row, with_stdout))?;
            Ok(facts.collect::<Result<_, _>>()?)
        })
    }

    /// Small outputs are in the row now; their files go.
    pub(crate) fn remove_collected(&self, run: &RunId, facts: &[NewFact]) {
        let dir = self.run_directory(run);
        facts.iter().flat_map(NewFact::outputs).for_each(|output| output.remove_collected(&dir));
    }
}

const OUTLINE_COLUMNS: usize = 9;
const WITHOUT_OUTPUTS: &str =
    "SELECT seq, at_ms, kind, key, body, stdout_len, stdout_file, stderr_len, stderr_file
     FROM facts WHERE id > ?1 AND id < ?2 ORDER BY id";
const WITH_STDOUT: &str =
    "SELECT seq, at_ms, kind, key, body, stdout_len, stdout_file, stderr_len, stderr_file, stdout
     FROM facts WHERE id > ?1 AND id < ?2 ORDER BY id";

fn stored_fact(row: &Row<'_>, with_stdout: bool) -> rusqlite::Result<StoredFact> {
    Ok(StoredFact {
        seq: row.get(0)?,
        at_ms: row.get(1)?,
        kind: row.get(2)?,
        key: row.get(3)?,
        body: row.get(4)?,
        stdout: StoredOutput::from_row(row, 5, with_stdout.then_some(OUTLINE_COLUMNS))?,
        stderr: StoredOutput::from_row(row, 7, None)?,
    })
}

/// Facts of one run lie between `fact_id(n, 0)` and `fact_id(n + 1, 0)`.
pub(crate) fn fact_id(n: i64, seq: u32) -> i64 {
    (n << 32) + i64::from(seq)
}

/// The run's number in the database.
pub(crate) fn run_number(conn: &Connection, run: &RunId) -> Result<i64, PathlessError> {
    let mut ask = conn.prepare_cached("SELECT n FROM runs WHERE id = ?1")?;
    let found = ask.query_row([run.as_str()], |row| row.get(0)).optional()?;
    found.ok_or_else(|| StoreError::NoSuchRun(run.clone()).into())
}

pub(crate) fn insert_facts(
    conn: &Connection,
    n: i64,
    facts: &[NewFact],
) -> Result<(), PathlessError> {
    facts.iter().flat_map(NewFact::outputs).try_for_each(OutputRef::check)?;
    let mut last = conn
        .prepare_cached("SELECT max(id) FROM facts WHERE id > ?1 AND id < ?2")?
        .query_row((fact_id(n, 0), fact_id(n + 1, 0)), |row| row.get::<_, Option<i64>>(0))?
        .unwrap_or(fact_id(n, 0));
    let mut statement = conn.prepare_cached(
        "INSERT INTO facts (id, run, seq, at_ms, kind, key, body,
            stdout_len, stdout_file, stdout, stderr_len, stderr_file, stderr)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for fact in facts {
        last += 1;
        let (out, err) = (fact.stdout.as_ref(), fact.stderr.as_ref());
        statement.execute(params![
            last,
            n,
            last - fact_id(n, 0),
            fact.at_ms,
            fact.kind,
            fact.key,
            fact.body,
            out.map(length),
            out.and_then(OutputRef::file_name),
            out.and_then(OutputRef::bytes),
            err.map(length),
            err.and_then(OutputRef::file_name),
            err.and_then(OutputRef::bytes),
        ])?;
    }
    Ok(())
}

fn length(output: &OutputRef) -> i64 {
    i64::try_from(output.len()).unwrap_or(i64::MAX)
}

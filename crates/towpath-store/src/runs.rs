//! Runs: one row each, with the summary that lists show without reading a single fact.
//!
//! The row is written by whoever drives the run; this module does not check it against the facts.

use crate::chain::{LAST_FACT, insert_plan, sum_of, values};
use crate::delete_runs::MARK;
use crate::error::PathlessError;
use crate::facts::{NewFact, insert_facts, run_number};
use crate::private_files::{RUNS, new_private_directory, private_directory};
use crate::run_summary::{RUN_COLUMNS, SUMMED, Summary, seal_row};
use crate::{Store, StoreError};
use rusqlite::{Connection, Row, ToSql, params};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use towpath_core::{RunId, RunStatus, StatusKind};

/// A run to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    pub recipe: String,
    /// The recipe's file, or the name of a built-in.
    pub source: String,
    pub directory: PathBuf,
    pub plan: String,
    pub created_ms: i64,
    pub summary: Summary,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    pub id: RunId,
    pub recipe: String,
    pub source: String,
    pub directory: PathBuf,
    pub created_ms: i64,
    pub summary: Summary,
}

impl RunRow {
    pub fn waits(&self) -> bool {
        self.summary.status.is(StatusKind::Waiting)
    }
}

/// Which runs to list; what is `None` does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    pub directory: Option<PathBuf>,
    pub recipe: Option<String>,
    pub status: Option<StatusKind>,
    pub limit: Option<u32>,
}

/// What a typed beginning of an id means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    One(Box<RunRow>),
    None,
    /// Newest first.
    Many(Vec<RunId>),
}

/// Ids begin at this length and get one longer with every collision.
const SHORTEST: u32 = 4;
/// Beyond this an id that is still taken means that the ids are not random.
const LONGEST: u32 = 26;

impl Store {
    /// Creates a run with its first plan and facts in one commit, and its directory. `next_id` is
    /// asked for a random id of the given length until one is free.
    pub fn create_run(
        &mut self,
        new: &NewRun,
        next_id: &mut dyn FnMut(u32) -> RunId,
        first: &[NewFact],
    ) -> Result<RunId, StoreError> {
        self.create_claimed_run(new, next_id, first, &mut |_| Ok(()))
    }

    /// As `create_run`. `claim` gets the run's directory before the commit: whoever sees the run finds
    /// it locked by its owner. If it fails, there is no run.
    pub fn create_claimed_run(
        &mut self,
        new: &NewRun,
        next_id: &mut dyn FnMut(u32) -> RunId,
        first: &[NewFact],
        claim: &mut dyn FnMut(&Path) -> io::Result<()>,
    ) -> Result<RunId, StoreError> {
        let runs = self.dir.join(RUNS);
        private_directory(&runs)?;
        let mut made = None;
        let created = self.commit(|conn| {
            let (id, dir) = free_id(conn, &runs, next_id)?;
            let dir = made.insert(dir);
            claim(dir).map_err(|error| StoreError::writing(dir, error))?;
            let n = insert_run(conn, &id, new)?;
            insert_plan(conn, n, &id, &new.plan)?;
            let chain = insert_facts(conn, n, &id, first)?;
            Ok((id, chain))
        });
        match created {
            Ok((id, chain)) => {
                self.owned.insert(id.clone(), 0);
                self.recorded(&id, first, &chain);
                Ok(id)
            }
            Err(error) => {
                // Nobody else can have it: its name was not there before.
                drop(made.map(fs::remove_dir_all));
                Err(error)
            }
        }
    }

    pub fn run(&self, id: &RunId) -> Result<Option<RunRow>, StoreError> {
        let found = self.select_runs("WHERE id = ?1", &[&id.as_str()])?.pop();
        if found.is_none() {
            self.refuse_lost(id.as_str())?;
        }
        found.map(|row| self.undamaged(row)).transpose()
    }

    /// A list shows that a row is damaged; whoever asks for that run gets no more of it.
    fn undamaged(&self, row: RunRow) -> Result<RunRow, StoreError> {
        self.refuse_older_journal(&row.id)?;
        match row.summary.status == RunStatus::damaged() {
            true => {
                let detail = "its row is not as it was recorded".to_owned();
                Err(StoreError::DamagedRun { run: row.id, detail })
            }
            false => Ok(row),
        }
    }

    /// Refuses the name of a run that was recorded and is in the journal no more.
    fn refuse_lost(&self, name: &str) -> Result<(), StoreError> {
        let Some(run) = RunId::new(name) else { return Ok(()) };
        let path = self.run_directory(&run);
        match path.join(LAST_FACT).exists() && !path.join(MARK).exists() {
            true => Err(StoreError::LostRun { run, path }),
            false => Ok(()),
        }
    }

    /// The runs that pass the filter, newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let directory = filter.directory.as_ref().map(|dir| dir.as_os_str().as_bytes());
        let status = filter.status.map(StatusKind::as_str);
        let limit = filter.limit.map_or(-1, i64::from);
        let mut clauses = Vec::new();
        let mut values: Vec<&dyn ToSql> = vec![&limit];
        let mut narrow = |column: &str, value| {
            values.push(value);
            clauses.push(format!("{column} = ?{}", values.len()));
        };
        if let Some(directory) = &directory {
            narrow("directory", directory);
        }
        if let Some(recipe) = &filter.recipe {
            narrow("recipe", recipe);
        }
        if let Some(status) = &status {
            narrow("status", status);
        }
        let wanted = match clauses.is_empty() {
            true => String::new(),
            false => format!("WHERE {}", clauses.join(" AND ")),
        };
        self.select_runs(&format!("{wanted} ORDER BY n DESC LIMIT ?1"), &values)
    }

    /// The newest run, of one directory or of all.
    pub fn latest(&self, directory: Option<&Path>) -> Result<Option<RunRow>, StoreError> {
        let directory = directory.map(Path::to_owned);
        let filter = RunFilter { directory, limit: Some(1), ..RunFilter::default() };
        Ok(self.runs(&filter)?.pop())
    }

    /// Records that a run works in another directory from now on.
    pub fn move_run(&mut self, id: &RunId, directory: &Path) -> Result<(), StoreError> {
        self.commit(|conn| {
            let n = run_number(conn, id)?;
            let mut moves = conn.prepare_cached("UPDATE runs SET directory = ?1 WHERE n = ?2")?;
            moves.execute((directory.as_os_str().as_bytes(), n))?;
            seal_row(conn, n)
        })
    }

    /// The run whose id is `prefix` or begins with it; upper case is read as lower case.
    pub fn find(&self, prefix: &str) -> Result<Found, StoreError> {
        let prefix = prefix.to_ascii_lowercase();
        let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if prefix.is_empty() || !prefix.chars().all(is_id) {
            return Ok(Found::None);
        }
        // `{` follows `z`: the range is everything that begins with the prefix.
        let end = format!("{prefix}{{");
        let wanted = "WHERE id >= ?1 AND id < ?2 ORDER BY n DESC";
        let mut found = self.select_runs(wanted, &[&prefix, &end])?;
        // An id may be the beginning of a longer one; typed in full it means itself.
        if let Some(exact) = found.iter().position(|row| row.id.as_str() == prefix) {
            return Ok(Found::One(Box::new(self.undamaged(found.swap_remove(exact))?)));
        }
        match found.len() {
            0 => self.refuse_lost(&prefix).map(|()| Found::None),
            1 => Ok(Found::One(Box::new(self.undamaged(found.swap_remove(0))?))),
            _ => Ok(Found::Many(found.into_iter().map(|row| row.id).collect())),
        }
    }

    fn select_runs(&self, wanted: &str, values: &[&dyn ToSql]) -> Result<Vec<RunRow>, StoreError> {
        let sql = format!("SELECT {RUN_COLUMNS}, sum FROM runs {wanted}");
        let rows: Vec<_> = self.ask(|conn| {
            let mut ask = conn.prepare_cached(&sql)?;
            Ok(ask.query_map(values, run_row)?.collect::<Result<_, _>>()?)
        })?;
        let damaged = || StoreError::damaged(&self.path, "a run has an impossible id");
        rows.into_iter().map(|row| row.ok_or_else(damaged)).collect()
    }
}

/// `None` when the id is none: only a damaged database has such a row.
fn run_row(row: &Row<'_>) -> rusqlite::Result<Option<RunRow>> {
    let Some(id) = RunId::new(row.get_ref(0)?.as_str()?) else { return Ok(None) };
    let sum = sum_of(b"run", values(row, SUMMED)?);
    let is_as_recorded = row.get_ref(SUMMED)?.as_blob().is_ok_and(|recorded| recorded == sum);
    let mut summary = Summary {
        status: RunStatus::from_columns(row.get_ref(5)?.as_str()?, row.get_ref(6)?.as_str()?),
        cost_microusd: row.get(7)?,
        started_ms: row.get(8)?,
        ended_ms: row.get(9)?,
        active_ms: row.get(10)?,
        steps_done: row.get(11)?,
        steps_skipped: row.get(12)?,
        steps_total: row.get(13)?,
        cost_unknown: row.get(14)?,
    };
    if !is_as_recorded {
        summary = Summary { status: RunStatus::damaged(), ..Summary::default() };
    }
    let directory = PathBuf::from(OsString::from_vec(row.get(3)?));
    let (recipe, source, created_ms) = (row.get(1)?, row.get(2)?, row.get(4)?);
    Ok(Some(RunRow { id, recipe, source, directory, created_ms, summary }))
}

/// An id is free when neither the database nor a directory left by another one has it. The
/// directory is made here: that is what claims it.
fn free_id(
    conn: &Connection,
    runs: &Path,
    next_id: &mut dyn FnMut(u32) -> RunId,
) -> Result<(RunId, PathBuf), PathlessError> {
    let mut taken = conn.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?;
    for length in SHORTEST..=LONGEST {
        let id = next_id(length);
        let dir = runs.join(id.as_str());
        if !taken.exists([id.as_str()])? && new_private_directory(&dir)? {
            return Ok((id, dir));
        }
    }
    Err(StoreError::NoFreeId.into())
}

fn insert_run(conn: &Connection, id: &RunId, new: &NewRun) -> Result<i64, PathlessError> {
    let s = &new.summary;
    let sql = format!(
        "INSERT INTO runs ({RUN_COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)"
    );
    let n = conn.prepare_cached(&sql)?.insert(params![
        id.as_str(),
        new.recipe,
        new.source,
        new.directory.as_os_str().as_bytes(),
        new.created_ms,
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
    seal_row(conn, n)?;
    Ok(n)
}

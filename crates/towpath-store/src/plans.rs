//! Plans: the frozen text a run works from. A run gets a new version when a user changes it;
//! the old ones stay. The text is not read here.

use crate::error::PathlessError;
use crate::facts::{NewFact, insert_facts, run_number};
use crate::run_summary::{Summary, write_summary};
use crate::{Store, StoreError};
use rusqlite::{Connection, OptionalExtension as _};
use towpath_core::RunId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPlan {
    /// Counts from 1.
    pub version: u32,
    pub text: String,
}

impl Store {
    /// The plan of that version, or the newest.
    pub fn plan(&self, run: &RunId, version: Option<u32>) -> Result<StoredPlan, StoreError> {
        let found = self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT version, plan FROM plans WHERE run = ?1 AND version = coalesce(?2, version)
                 ORDER BY version DESC LIMIT 1",
            )?;
            let plan = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            Ok(ask.query_row((run_number(conn, run)?, version), plan).optional()?)
        })?;
        match (found, version) {
            (Some((version, text)), _) => Ok(StoredPlan { version, text }),
            (None, Some(version)) => Err(StoreError::NoSuchPlan { run: run.clone(), version }),
            (None, None) => Err(StoreError::damaged(&self.path, format!("run {run} has no plan"))),
        }
    }

    /// Gives the run a new plan, with the facts that give the reason, in one commit. Returns its version.
    pub fn add_plan(
        &mut self,
        run: &RunId,
        plan: &str,
        facts: &[NewFact],
        summary: Option<&Summary>,
    ) -> Result<u32, StoreError> {
        let version = self.commit(|conn| {
            let n = run_number(conn, run)?;
            let version = insert_plan(conn, n, plan)?;
            insert_facts(conn, n, facts)?;
            if let Some(summary) = summary {
                write_summary(conn, n, summary)?;
            }
            Ok(version)
        })?;
        self.remove_collected(run, facts);
        Ok(version)
    }
}

pub(crate) fn insert_plan(conn: &Connection, n: i64, plan: &str) -> Result<u32, PathlessError> {
    let mut insert = conn.prepare_cached(
        "INSERT INTO plans (run, version, plan)
         VALUES (?1, (SELECT coalesce(max(version), 0) + 1 FROM plans WHERE run = ?1), ?2)
         RETURNING version",
    )?;
    Ok(insert.query_row((n, plan), |row| row.get(0))?)
}

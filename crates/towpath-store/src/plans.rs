//! Plans: the frozen text a run works from. A run gets a new version when a user changes it;
//! the old ones stay. The text is not read here.

use crate::chain::{Sum, plan_sum};
use crate::facts::{NewFact, run_number};
use crate::run_summary::Summary;
use crate::{Store, StoreError};
use rusqlite::OptionalExtension as _;
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
        self.refuse_older_journal(run)?;
        if version.is_none() {
            // Only the facts show which plan is the newest.
            self.facts_after(run, 0)?;
        }
        let found = self.ask(|conn| {
            let mut ask = conn.prepare_cached(
                "SELECT version, plan, sum FROM plans WHERE run = ?1 AND version = coalesce(?2, version)
                 ORDER BY version DESC LIMIT 1",
            )?;
            let plan = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, Sum>(2)?));
            Ok(ask.query_row((run_number(conn, run)?, version), plan).optional()?)
        })?;
        match (found, version) {
            (Some((version, text, sum)), _) if plan_sum(run, version, &text) == sum => {
                Ok(StoredPlan { version, text })
            }
            (Some((version, ..)), _) => {
                let detail = format!("plan {version} is not as it was recorded");
                Err(StoreError::DamagedRun { run: run.clone(), detail })
            }
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
        self.record(run, Some(plan), facts, summary)?;
        Ok(self.plan(run, None)?.version)
    }
}

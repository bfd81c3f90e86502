//! The summary of a run that its row in the store has.

use crate::census::census;
use crate::clock::now_ms;
use towpath_core::RunStatus;
use towpath_run::{Run, RunOutcome};
use towpath_store::Summary;

/// What a list of runs shows. It is recorded at each end of a run, and counted again for one that is
/// running or was interrupted.
pub fn summary(run: &Run, outcome: Option<&RunOutcome>, active_ms: i64) -> Summary {
    let census = census(run);
    Summary {
        status: outcome.map_or(RunStatus::Running, RunOutcome::status),
        cost_microusd: census.cost_usd.map(|c| (c * 1e6).round() as i64),
        cost_unknown: census.cost_unknown,
        started_ms: run.view().iter().filter_map(|s| s.started_ms).min().unwrap_or_else(now_ms),
        ended_ms: outcome.map(|_| now_ms()),
        active_ms,
        steps_done: census.ran as u32,
        steps_skipped: census.skipped.len() as u32,
        steps_total: Some(census.total as u32),
    }
}

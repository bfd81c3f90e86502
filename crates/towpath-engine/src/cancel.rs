//! Cancelling a run that nobody owns: its owner died, or has left it to wait or to be asked about.
//! A run with a living owner is refused; that owner must be told, and records it itself.

use crate::error::EngineError;
use crate::journal::{now_ms, recorded, to_store};
use crate::open::take;
use crate::summary::summary;
use std::time::Duration;
use towpath_core::RunId;
use towpath_process::{RunLock, end_marked};
use towpath_run::{Fact, Limits, RunOutcome, StopReason};
use towpath_store::Store;

/// A dead owner's warden needs this long at most to end what it left.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes the run, ends what is left of it, and records it as cancelled. Returns the processes that
/// were ended.
pub fn cancel_unowned(
    store: &mut Store,
    id: &RunId,
    limits: Limits,
) -> Result<Vec<String>, EngineError> {
    let directory = store.ensure_run_directory(id)?;
    let lock = take(&directory, id, PATIENCE)?;
    cancel_held(store, id, limits, lock)
}

/// Likewise for a run that the caller holds and does not drive.
pub fn cancel_held(
    store: &mut Store,
    id: &RunId,
    limits: Limits,
    lock: RunLock,
) -> Result<Vec<String>, EngineError> {
    let ended = end_marked(id.as_str())?;
    let mut run = recorded(store, id, limits)?.run;
    let at = now_ms();
    let mut batch = Vec::new();
    let mut note = |run: &mut towpath_run::Run, fact: Fact| -> Result<(), EngineError> {
        run.apply(&fact, at)?;
        batch.push(to_store(&fact, at, None, None));
        Ok(())
    };
    // What was in flight when the owner died is in flight no more.
    if run.running().next().is_some() {
        note(&mut run, Fact::Resumed)?;
    }
    let outcome = RunOutcome::Stopped { reason: StopReason::Cancel };
    note(&mut run, Fact::Stopping { reason: StopReason::Cancel })?;
    note(&mut run, Fact::Ended { outcome: outcome.as_str().to_owned() })?;
    let active_ms = store.run(id)?.map_or(0, |row| row.summary.active_ms);
    let totals = summary(&run, Some(&outcome), active_ms);
    store.append(id, &batch, Some(&totals))?;
    drop(lock);
    Ok(ended.iter().map(|left| format!("{} ({})", left.command, left.pid)).collect())
}

//! Cancelling a run without an owner: its owner died, or has left it waiting or for the user to decide.
//! A run with a living owner is refused; that owner must be asked, and records it itself.

use crate::clock::now_ms;
use crate::error::EngineError;
use crate::masked::masked;
use crate::recover_agent_calls::{LateFact, late_facts};
use crate::replay_run::recorded;
use crate::run_owner::{end_holders, owner_of, take};
use crate::run_summary::summary;
use crate::settle::describe;
use crate::stored_facts::to_store;
use crate::stored_run_options::Options;
use std::time::Duration;
use towpath_core::{RunId, Secrets};
use towpath_executor::{Leftover, RunLock, end_marked};
use towpath_run::{Fact, Limits, RunOutcome, StopReason};
use towpath_store::Store;

/// A dead owner's warden needs this long at most to end what it left.
const PATIENCE: Duration = Duration::from_secs(10);

/// Takes the run, ends what is left of it, also a warden that does not end by itself, and records it
/// as cancelled. Returns the processes that were ended. `secrets` gives those of the run's options,
/// where it can: command lines that cannot be masked are not shown.
pub fn cancel_unowned(
    store: &mut Store,
    id: &RunId,
    limits: Limits,
    secrets: &dyn Fn(&Options) -> Option<Secrets>,
) -> Result<Vec<String>, EngineError> {
    let directory = store.ensure_run_directory(id)?;
    let lock = match take(&directory, id, PATIENCE) {
        Err(EngineError::Owned { .. }) if owner_of(store, id).is_none() => {
            end_holders(store, id)?;
            take(&directory, id, PATIENCE)?
        }
        taken => taken?,
    };
    cancel_owned(store, id, limits, lock, secrets)
}

/// Likewise for a run that the caller owns and does not drive.
pub fn cancel_owned(
    store: &mut Store,
    id: &RunId,
    limits: Limits,
    lock: RunLock,
    secrets: &dyn Fn(&Options) -> Option<Secrets>,
) -> Result<Vec<String>, EngineError> {
    store.take_over(id)?;
    let recorded = recorded(store, id, limits)?;
    let secrets = secrets(&recorded.options);
    let known = secrets.clone().unwrap_or_default();
    let ended = end_marked(id.as_str(), &known)?;
    let (late, _) = late_facts(&recorded, &store.run_directory(id), &known)?;
    let mut run = recorded.run;
    let at = now_ms();
    let mut batch = Vec::new();
    for LateFact { fact, at_ms, stdout, stderr } in late {
        let fact = masked(&known, fact);
        run.apply(&fact, at_ms)?;
        batch.push(to_store(&fact, at_ms, stdout, stderr));
    }
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
    let described = |left: &Leftover| match &secrets {
        Some(_) => describe(left),
        None => format!("a process whose command line may contain a secret ({})", left.pid),
    };
    Ok(ended.iter().map(described).collect())
}

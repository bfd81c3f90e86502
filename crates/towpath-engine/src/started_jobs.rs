//! The jobs of a run as they were started: with the script or the prompt that was filled in then.

use crate::error::EngineError;
use crate::replay_run::Replay;
use towpath_core::{JobKey, RunId, Secrets};
use towpath_run::{Fact, Job, Limits};
use towpath_store::Store;

#[derive(Debug)]
pub struct StartedJob {
    /// The number of the fact that started it.
    pub number: u32,
    pub job: Job,
    /// How many restarts of the run's own state machine came before it.
    pub restarts: u32,
}

/// Replays a run and returns the jobs that are wanted, in the order of their starts. A text is not
/// recorded: it is made again from the plan and the facts, as it was made for the job.
pub fn started_jobs(
    store: &Store,
    id: &RunId,
    limits: Limits,
    wanted: &dyn Fn(&JobKey) -> bool,
) -> Result<Vec<StartedJob>, EngineError> {
    let mut replay = Replay::new(store, id, limits, Secrets::default())?;
    let mut found = Vec::new();
    for stored in store.facts(id)? {
        if let Ok(Fact::JobStarted { key, .. }) = serde_json::from_str(&stored.body)
            && wanted(&key)
            && let Some(job) = replay.run.wanted(&key)
        {
            let restarts = replay.run.machine_view().map_or(0, |machine| machine.restarts);
            found.push(StartedJob { number: stored.seq, job: job.clone(), restarts });
        }
        replay.apply(store, &stored)?;
    }
    Ok(found)
}

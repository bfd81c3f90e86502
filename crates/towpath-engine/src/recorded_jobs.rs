//! The jobs of a recorded run as they were started, with their filled scripts and prompts. These are not in
//! the record: the replayed run wants the same jobs again.

use crate::error::EngineError;
use crate::replay_run::Replay;
use towpath_core::{RunId, Secrets};
use towpath_run::{Fact, Job, JobEnd, Limits};
use towpath_store::Store;

/// A job of a recorded run.
#[derive(Debug)]
pub struct RecordedJob {
    pub job: Job,
    pub started_ms: i64,
    /// None: it runs, or its owner is gone.
    pub end: Option<(JobEnd, i64)>,
}

/// Every job of a run, in the order in which they were started.
pub fn recorded_jobs(
    store: &Store,
    id: &RunId,
    limits: Limits,
) -> Result<Vec<RecordedJob>, EngineError> {
    let mut replay = Replay::new(store, id, limits, Secrets::default())?;
    let mut jobs: Vec<RecordedJob> = Vec::new();
    for item in &store.facts(id)? {
        // Looked for before the fact is applied: a job that has started is not wanted any more.
        if let Ok(Fact::JobStarted { key, .. }) = serde_json::from_str(&item.body) {
            let job = replay.run.wanted(&key).cloned();
            jobs.extend(job.map(|job| RecordedJob { job, started_ms: item.at_ms, end: None }));
        }
        if let Fact::JobFinished { key, end } = replay.apply(store, item)?
            && let Some(job) = jobs.iter_mut().rfind(|job| job.job.key == key)
        {
            job.end = Some((end, item.at_ms));
        }
    }
    Ok(jobs)
}

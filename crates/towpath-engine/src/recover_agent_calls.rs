//! Agent calls of a dead owner whose result is complete on disk: they are paid for, and recorded as if
//! their end had been seen. Whether the others are made again is decided by the run.

use crate::clock::now_ms;
use crate::error::EngineError;
use crate::outputs_read::OutputsRead;
use crate::replay_run::Recorded;
use crate::session_locks::SessionLocks;
use crate::sessions::Sessions;
use crate::settle::{SettledEnd, settle};
use std::path::Path;
use towpath_core::{JobKey, JobKind, Secrets};
use towpath_executor::{InterruptedCall, JobId, LocalRecovery, Recovered, Recovery};
use towpath_run::Fact;
use towpath_store::OutputRef;

/// A job whose start is recorded and whose end is not.
#[derive(Debug)]
pub(crate) struct InterruptedJob {
    pub id: JobId,
    pub key: JobKey,
    pub started_ms: i64,
}

/// A fact that a dead owner would have recorded, with what belongs to it.
pub(crate) struct LateFact {
    pub fact: Fact,
    pub at_ms: i64,
    pub stdout: Option<OutputRef>,
    pub stderr: Option<OutputRef>,
}

/// The facts that a dead owner had no time to record, and what is to be reported of them.
pub(crate) fn late_facts(
    recorded: &Recorded,
    directory: &Path,
    secrets: &Secrets,
) -> Result<(Vec<LateFact>, Vec<String>), EngineError> {
    let (mut facts, mut warnings) = (Vec::new(), Vec::new());
    let Some(backend) = &recorded.options.backend else { return Ok((facts, warnings)) };
    let recovery: &dyn Recovery =
        &LocalRecovery { run_directory: directory.to_owned(), secrets: secrets.clone() };
    let program = recorded.run.program();
    let reads = OutputsRead::of(program);
    let foreign = program.plan.machine.session.clone();
    let mut sessions = Sessions::new(SessionLocks::default(), foreign);
    sessions.replay(&recorded.started);
    let calls = recorded.interrupted.iter().filter(|job| job.key.kind == JobKind::Agent);
    for InterruptedJob { id, key, started_ms } in calls {
        let call = InterruptedCall { job: *id, key: key.clone(), backend: backend.clone() };
        let Some(Recovered { mut finished, printed_ms }) = recovery.recover(&call)? else {
            continue;
        };
        // A clock that was set meanwhile makes no step end before it began.
        let now = now_ms();
        let at_ms = printed_ms.map_or(now, |printed| printed.min(now)).max(*started_ms);
        let session = finished.session.take();
        let SettledEnd { mut end, stdout, stderr, warnings: of_call } =
            settle(directory, key, finished, &reads)?;
        if let Some(session) = session.filter(|id| sessions.of(key).as_ref() != Some(id)) {
            sessions.opened(key, &session);
            let fact = Fact::SessionOpened { key: key.clone(), session };
            facts.push(LateFact { fact, at_ms, stdout: None, stderr: None });
        }
        sessions.complete(key, &mut end);
        warnings.extend(of_call.iter().map(|warning| format!("{}: {warning}", key.step_path())));
        let fact = Fact::JobFinished { key: key.clone(), end };
        facts.push(LateFact { fact, at_ms, stdout, stderr });
    }
    Ok((facts, warnings))
}

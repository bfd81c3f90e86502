//! The answer of an agent call whose owner died. What its program printed is on disk: a complete result
//! there is paid for. Whether a call that is not complete is made again is up to the run.

use crate::error::ExecutorError;
use crate::executor::{JobEvent, Observer};
use crate::finished_job::{EndStatus, Finished};
use crate::job_spec::JobId;
use crate::local::{JobFiles, LocalJob};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use towpath_agent::{Backend, Call, backend_row};
use towpath_core::{JobKey, Secrets};
use towpath_process::ExitStatus;

/// A call whose start is recorded and whose end is not.
#[derive(Debug, Clone)]
pub struct InterruptedCall {
    pub job: JobId,
    pub key: JobKey,
    /// The backend that answered, by its id.
    pub backend: String,
}

/// A call that had its result when its owner died.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    pub finished: Finished,
    /// When it printed last, in milliseconds since 1970.
    pub printed_ms: Option<i64>,
}

/// Reads what a dead owner's call left. It needs no executor that runs: whoever takes a run over asks
/// before any job is started.
pub trait Recovery {
    /// The end of the call, where what it left contains a complete result.
    fn recover(&self, call: &InterruptedCall) -> Result<Option<Recovered>, ExecutorError>;
}

/// What calls of a [`LocalExecutor`](crate::LocalExecutor) left in the run's directory.
#[derive(Debug)]
pub struct LocalRecovery {
    pub run_directory: PathBuf,
    pub secrets: Secrets,
}

impl Recovery for LocalRecovery {
    fn recover(&self, call: &InterruptedCall) -> Result<Option<Recovered>, ExecutorError> {
        let Some(backend) = backend(&call.backend) else { return Ok(None) };
        let mut files = JobFiles::new(&self.run_directory, call.job, &self.secrets);
        files.reads = backend.invocation(&Call::default()).reads;
        let stdout = files.path("stdout");
        let mut job = LocalJob::read_only(call.job, &call.key, files, Some(&*backend), false);
        let unknown = ExitStatus { code: None, signal: None };
        let finished = job.end(unknown, &mut Nobody)?;
        if finished.status != EndStatus::Exited(0) {
            return Ok(None);
        }
        let modified = stdout.metadata().and_then(|file| file.modified()).ok();
        let printed = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Ok(Some(Recovered { finished, printed_ms: printed.map(|time| time.as_millis() as i64) }))
    }
}

/// A scripted answer has no last line that could show that it is complete.
fn backend(id: &str) -> Option<Arc<dyn Backend>> {
    let make = backend_row(id)?.make?;
    // Nothing is started, and no time is read from a good answer.
    Some(make(PathBuf::new(), jiff::tz::TimeZone::UTC))
}

/// The terminal of the dead owner is gone.
struct Nobody;

impl Observer for Nobody {
    fn event(&mut self, _: JobEvent<'_>) {}

    fn ready(&self) -> bool {
        true
    }
}

//! From an executor's end of a job to the one that the run takes: its output as a value, its files on
//! their way into the record.

use crate::as_value::{as_value, file_output};
use crate::error::{EngineError, io_error};
use crate::outputs_read::OutputsRead;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use towpath_core::{JobKey, JobKind};
use towpath_executor::{EndStatus, Finished, Leftover};
use towpath_run::{Fault, JobEnd, JobStatus, Output};
use towpath_store::{OutputRef, settle_output};

/// How much of stderr's end a failure carries.
const ERROR_TAIL: u64 = 4096;
/// How much of the end of a large output an outcome is looked for in.
const REPORT_TAIL: u64 = 64 << 10;

pub(crate) struct SettledEnd {
    pub end: JobEnd,
    pub stdout: Option<OutputRef>,
    pub stderr: Option<OutputRef>,
    pub warnings: Vec<String>,
}

/// `directory`: the run's own.
pub(crate) fn settle(
    directory: &Path,
    key: &JobKey,
    finished: Finished,
    reads: &OutputsRead,
) -> Result<SettledEnd, EngineError> {
    let stdout = settle_output(directory, &finished.stdout)?;
    let stderr = settle_output(directory, &finished.stderr)?;
    let mut warnings = finished.warnings;
    let mut end = JobEnd {
        usage: finished.usage,
        session_total: finished.session_total,
        left: finished.left.iter().map(describe).collect(),
        ..JobEnd::new(job_status(finished.status))
    };
    if let EndStatus::Silent(time) = finished.status {
        end.silent_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    }
    // What a good step printed on stderr is in the record; it is no error.
    if !end.succeeded() {
        end.error = match finished.message {
            Some(message) => message,
            None => tail(directory, stderr.as_ref(), ERROR_TAIL)?.trim_end().to_owned(),
        };
    }
    if key.kind == JobKind::Agent {
        end.output = Output::Text(finished.answer.unwrap_or_default());
    } else {
        end.output = output(directory, key, stdout.as_ref(), reads)?;
    }
    if key.kind == JobKind::Bash
        && let Some(OutputRef::Inline { bytes, .. }) = &stdout
        && reads.wants(key)
        && std::str::from_utf8(bytes).is_err()
    {
        warnings.push("its output is not UTF-8: as a value, bad bytes become U+FFFD".into());
    }
    if matches!(end.output, Output::TooLarge { .. }) && reads.reports(key) {
        end.tail = Some(tail(directory, stdout.as_ref(), REPORT_TAIL)?);
    }
    Ok(SettledEnd { end, stdout, stderr, warnings })
}

fn job_status(status: EndStatus) -> JobStatus {
    match status {
        EndStatus::Exited(code) => JobStatus::Exited(code),
        EndStatus::Signalled(signal) => JobStatus::Signalled(signal),
        EndStatus::TimedOut | EndStatus::Silent(_) => JobStatus::TimedOut,
        EndStatus::Stopped => JobStatus::Stopped,
        EndStatus::NotStarted => JobStatus::NotStarted,
        EndStatus::Faulted { kind, until_ms } => JobStatus::Faulted(Fault { kind, until_ms }),
    }
}

fn output(
    directory: &Path,
    key: &JobKey,
    stdout: Option<&OutputRef>,
    reads: &OutputsRead,
) -> Result<Output, EngineError> {
    match stdout {
        None => Ok(Output::Text(String::new())),
        Some(OutputRef::Inline { bytes, .. }) => Ok(Output::Text(as_value(bytes))),
        Some(OutputRef::File { name, len, sum }) => {
            Ok(file_output(&directory.join(name), *len, *sum, reads.wants(key))?)
        }
    }
}

/// The last bytes of an output, as text.
fn tail(directory: &Path, output: Option<&OutputRef>, most: u64) -> Result<String, EngineError> {
    let (name, len) = match output {
        None => return Ok(String::new()),
        Some(OutputRef::Inline { bytes, .. }) => {
            let start = bytes.len().saturating_sub(most as usize);
            return Ok(String::from_utf8_lossy(&bytes[start..]).into_owned());
        }
        Some(OutputRef::File { name, len, .. }) => (name, *len),
    };
    let path = directory.join(name);
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(&path)?;
        file.seek(SeekFrom::Start(len.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(io_error(&path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn describe(leftover: &Leftover) -> String {
    format!("{} ({})", leftover.command, leftover.pid)
}

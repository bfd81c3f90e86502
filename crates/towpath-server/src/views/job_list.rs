//! The jobs of a run in the order of their starts: every visit, every attempt, every agent call, with
//! the names of their outputs. An output is named after the fact that started its job: `12.stdout`.

use crate::Server;
use crate::answer::Refusal;
use serde_json::{Value, json};
use std::fs::symlink_metadata;
use std::path::{Path, PathBuf};
use towpath_core::{JobKey, JobKind, RunId, SessionId, Stream};
use towpath_engine::is_reported;
use towpath_run::{Fact, JobEnd, JobStatus};
use towpath_store::{Store, StoredFact, StoredOutput};
use towpath_view::amounts_and_times::rfc3339;
use towpath_view::run_json::ShownRun;

#[derive(Debug)]
pub(crate) struct JobEntry {
    /// The fact that started it.
    pub number: u32,
    pub key: JobKey,
    pub backend: Option<String>,
    pub model: Option<String>,
    pub session: Option<SessionId>,
    pub end: Option<JobEnd>,
    started: String,
    ended: Option<String>,
    status: &'static str,
    outputs: Vec<Value>,
}

const STREAMS: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

pub(crate) fn job_list(
    server: &Server,
    store: &Store,
    shown: &ShownRun,
) -> Result<Vec<JobEntry>, Refusal> {
    let id = &shown.row.id;
    let time = |ms| rfc3339(ms, &server.config.zone);
    let directory = store.run_directory(id);
    let mut jobs: Vec<JobEntry> = Vec::new();
    for stored in store.facts_after(id, 0)? {
        // A fact of a newer program may be one that is not known here.
        let Ok(fact) = serde_json::from_str::<Fact>(&stored.body) else { continue };
        match fact {
            // What we ask git around an agent's work is no work of the step.
            Fact::JobStarted { key, .. }
                if matches!(key.kind, JobKind::Snapshot | JobKind::GitAdd) => {}
            Fact::JobStarted { key, session, backend, model, .. } => jobs.push(JobEntry {
                number: stored.seq,
                key,
                backend,
                model,
                session,
                end: None,
                started: time(stored.at_ms),
                ended: None,
                status: if shown.is_running() { "running" } else { "interrupted" },
                outputs: live_outputs(&directory, stored.seq, shown.is_running()),
            }),
            // What had not ended then has nobody who waits for it.
            Fact::Resumed => {
                for job in jobs.iter_mut().filter(|job| job.end.is_none()) {
                    job.status = "interrupted";
                    job.outputs = live_outputs(&directory, job.number, false);
                }
            }
            Fact::SessionOpened { key, session } => {
                if let Some(job) = latest(&mut jobs, &key) {
                    job.session = Some(session);
                }
            }
            Fact::JobFinished { key, end } => {
                if let Some(job) = latest(&mut jobs, &key) {
                    job.ended = Some(time(stored.at_ms));
                    job.status = status(&end.status);
                    job.outputs = recorded_outputs(&stored, job.number);
                    job.end = Some(end);
                }
            }
            _ => {}
        }
    }
    Ok(jobs)
}

fn latest<'a>(jobs: &'a mut [JobEntry], key: &JobKey) -> Option<&'a mut JobEntry> {
    jobs.iter_mut().rev().find(|job| job.key == *key)
}

fn status(status: &JobStatus) -> &'static str {
    match status {
        JobStatus::Exited(0) => "succeeded",
        JobStatus::TimedOut => "timed-out",
        JobStatus::Stopped => "stopped",
        JobStatus::NotStarted => "not-started",
        JobStatus::Exited(_) | JobStatus::Signalled(_) | JobStatus::Faulted(_) => "failed",
    }
}

fn recorded_outputs(stored: &StoredFact, number: u32) -> Vec<Value> {
    let lengths = [&stored.stdout, &stored.stderr].map(|output| output.as_ref());
    let lengths = lengths.map(|output| output.map_or(0, StoredOutput::len));
    let pairs = STREAMS.into_iter().zip(lengths).filter(|(_, bytes)| *bytes > 0);
    pairs.map(|(stream, bytes)| output_json(number, stream, bytes, false)).collect()
}

/// What a job without an end has printed so far. One that runs may not have its files yet.
fn live_outputs(directory: &Path, number: u32, live: bool) -> Vec<Value> {
    let size = |stream| live_size(&live_path(directory, number, stream)).unwrap_or(0);
    let sizes = STREAMS.into_iter().map(|stream| (stream, size(stream)));
    let sizes = sizes.filter(|(_, bytes)| live || *bytes > 0);
    sizes.map(|(stream, bytes)| output_json(number, stream, bytes, live)).collect()
}

/// None: there is no such file, or it is none that a job prints into.
pub(crate) fn live_size(path: &Path) -> Option<u64> {
    symlink_metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
}

pub(crate) fn live_path(directory: &Path, number: u32, stream: Stream) -> PathBuf {
    directory.join(output_name(number, stream))
}

pub(crate) fn output_name(number: u32, stream: Stream) -> String {
    format!("{number}.{}", stream_word(stream))
}

fn stream_word(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

/// The job and the stream that an output's name means.
pub(crate) fn parse_output_name(name: &str) -> Option<(u32, Stream)> {
    let (number, word) = name.split_once('.')?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let stream = STREAMS.into_iter().find(|stream| stream_word(*stream) == word)?;
    Some((number.parse().ok().filter(|_| digits)?, stream))
}

fn output_json(number: u32, stream: Stream, bytes: u64, live: bool) -> Value {
    let name = output_name(number, stream);
    json!({ "name": name, "stream": stream_word(stream), "bytes": bytes, "live": live })
}

impl JobEntry {
    pub fn json(&self) -> Value {
        json!({
            "number": self.number,
            "path": self.key.step_path(),
            "kind": self.key.kind.as_str(),
            "visit": self.key.visit,
            "attempt": self.key.attempt + 1,
            "call": self.key.call,
            "started": self.started,
            "ended": self.ended,
            "status": self.status,
            "outputs": self.outputs,
            "transcript": self.backend.as_deref().is_some_and(is_reported),
        })
    }
}

/// The job that a fact started, and whether its end is recorded.
pub(crate) fn job_of(
    store: &Store,
    id: &RunId,
    number: u32,
) -> Result<Option<(JobKey, bool)>, Refusal> {
    let Some(before) = number.checked_sub(1) else { return Ok(None) };
    let mut facts = store.facts_after(id, before)?.into_iter().filter(|fact| fact.seq >= number);
    let first = facts.next().filter(|fact| fact.seq == number);
    let first = first.and_then(|fact| serde_json::from_str::<Fact>(&fact.body).ok());
    let Some(Fact::JobStarted { key, .. }) = first else { return Ok(None) };
    let text = key.to_string();
    let ended = facts.any(|fact| fact.kind == "job-finished" && fact.key.as_ref() == Some(&text));
    Ok(Some((key, ended)))
}

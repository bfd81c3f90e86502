//! Follows a run from outside: what another process records and prints of it, incrementally, while it
//! runs or when it has ended. It only reads, and never waits.
//!
//! [`RunFollower::poll`] turns the journal and the output files of the jobs into the events that the
//! run's owner reports: what the run decided, what its steps print, what their agents do.
//! [`RunFollower::poll_without_output`] reads the journal alone. A caller that shows some of the jobs,
//! and by job instead of by step, takes [`RunFollower::update`] and [`RunFollower::read_job`] instead.

mod agent_reader;
mod copy_growing_file;
mod reported_events;

use crate::error::EngineError;
use crate::replay_run::Replay;
use crate::sessions::Sessions;
use agent_reader::AgentReader;
pub use agent_reader::is_reported;
use copy_growing_file::copy;
use jiff::tz::TimeZone;
use reported_events::FollowedCall;
use std::io::ErrorKind;
use std::path::PathBuf;
use towpath_core::{JobKey, Secrets, Stream};
use towpath_executor::CallProgress;
use towpath_run::{Fact, JobEnd, Limits, Run};
use towpath_store::{Output, RunRow, Store, StoredFact};

/// One job of a run, and how much of what it printed was read.
#[derive(Debug)]
pub struct FollowedJob {
    pub key: JobKey,
    /// None: it is running, or its owner died.
    pub end: Option<JobEnd>,
    /// The number of the fact that started it; its files have it in their names.
    pub number: u32,
    read: [u64; 2],
    agent: Option<AgentReader>,
    call: Option<FollowedCall>,
    complete: bool,
}

/// What is new of a job.
#[derive(Debug)]
pub enum JobNews<'a> {
    /// What it printed, as it is; of an agent, what its program printed.
    Output { stream: Stream, bytes: &'a [u8] },
    /// What a line of an agent's program means: a tool call, a message, another try.
    Agent(CallProgress),
    /// It has ended, and everything that it printed was given before.
    Ended(&'a JobEnd),
}

/// Takes what is new; false when it wants no more for now.
pub type NewsSink<'a> = dyn FnMut(JobNews<'_>) -> bool + 'a;

#[derive(Debug)]
pub struct RunFollower {
    row: RunRow,
    directory: PathBuf,
    zone: TimeZone,
    /// The last fact that was read.
    seen: u32,
    jobs: Vec<FollowedJob>,
    /// The run as far as it was read; none where its plan cannot be read by this program.
    replay: Option<Replay>,
    sessions: Sessions,
    /// The number of the latest event.
    reported: u64,
}

impl RunFollower {
    /// Follows a run from its beginning. Agents' programs print times of this time zone.
    pub fn new(store: &Store, row: RunRow, zone: TimeZone) -> RunFollower {
        // A run whose plan cannot be read any more still has its output.
        let replay = Replay::new(store, &row.id, Limits::default(), Secrets::default()).ok();
        let directory = store.run_directory(&row.id);
        RunFollower {
            row,
            directory,
            zone,
            seen: 0,
            jobs: Vec::new(),
            replay,
            sessions: Sessions::default(),
            reported: 0,
        }
    }

    pub fn row(&self) -> &RunRow {
        &self.row
    }

    /// Every job that was started so far, in that order.
    pub fn jobs(&self) -> &[FollowedJob] {
        &self.jobs
    }

    /// The run's decisions are not followed here: only which jobs there are, and how they ended.
    pub fn update(&mut self, store: &Store) -> Result<(), EngineError> {
        for stored in store.facts_after(&self.row.id, self.seen)? {
            self.take(&stored);
        }
        Ok(())
    }

    /// Gives what is new of a job.
    pub fn read_job(
        &mut self,
        store: &Store,
        job: usize,
        sink: &mut NewsSink<'_>,
    ) -> Result<(), EngineError> {
        if self.jobs[job].complete {
            return Ok(());
        }
        let ended = self.jobs[job].end.is_some();
        for stream in [Stream::Stdout, Stream::Stderr] {
            let more = match ended {
                true => self.read_recorded(store, job, stream, sink)?,
                false => self.read_live(store, job, stream, sink)?,
            };
            if !more {
                return Ok(());
            }
        }
        let job = &mut self.jobs[job];
        if let Some(end) = job.end.as_ref().filter(|_| ended) {
            job.complete = true;
            for news in job.agent.as_mut().map(AgentReader::finish).unwrap_or_default() {
                sink(news);
            }
            sink(JobNews::Ended(end));
        }
        Ok(())
    }

    /// Notes what a fact means for the jobs. A fact of a newer program may be one that is not known
    /// here.
    fn take(&mut self, stored: &StoredFact) -> Option<Fact> {
        self.seen = stored.seq;
        let fact = serde_json::from_str::<Fact>(&stored.body).ok()?;
        match &fact {
            Fact::JobStarted { key, backend, .. } => self.jobs.push(FollowedJob {
                key: key.clone(),
                end: None,
                number: stored.seq,
                read: [0, 0],
                agent: AgentReader::of(backend.as_deref(), &self.zone),
                call: None,
                complete: false,
            }),
            Fact::JobFinished { key, end } => {
                if let Some(job) = self.job(key) {
                    self.jobs[job].end = Some(end.clone());
                }
            }
            _ => {}
        }
        Some(fact)
    }

    /// The latest job of this key.
    fn job(&self, key: &JobKey) -> Option<usize> {
        self.jobs.iter().rposition(|job| job.key == *key)
    }

    /// Everything of a job's output that the record has, from where it was left. False when the sink
    /// wants no more.
    fn read_recorded(
        &mut self,
        store: &Store,
        job: usize,
        stream: Stream,
        sink: &mut NewsSink<'_>,
    ) -> Result<bool, EngineError> {
        let job = &mut self.jobs[job];
        let from = job.read[stream as usize];
        match store.output(&self.row.id, &job.key.to_string(), stream)? {
            None => Ok(true),
            Some(Output::Inline(bytes)) => {
                // A job may cut its own output file short: then there is less than was read.
                let from = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
                job.read[stream as usize] = bytes.len() as u64;
                Ok(job.pass(stream, &bytes[from..], sink))
            }
            Some(Output::File { path, len }) => {
                let mut more = true;
                let read = copy(&path, from, Some(len), &mut |bytes| {
                    more = job.pass(stream, bytes, sink);
                    more
                });
                job.read[stream as usize] +=
                    read.map_err(|error| EngineError::Io { path, error })?;
                Ok(more)
            }
        }
    }

    /// What a running job has printed since. False when the sink wants no more.
    fn read_live(
        &mut self,
        store: &Store,
        index: usize,
        stream: Stream,
        sink: &mut NewsSink<'_>,
    ) -> Result<bool, EngineError> {
        let job = &mut self.jobs[index];
        let path = self.directory.join(format!("{}.{}", job.number, stream.as_str()));
        let mut more = true;
        let read = copy(&path, job.read[stream as usize], None, &mut |bytes| {
            more = job.pass(stream, bytes, sink);
            more
        });
        match read {
            Ok(read) => {
                job.read[stream as usize] += read;
                Ok(more)
            }
            // It has not started yet, or ended just now and its output is in the record.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.read_recorded(store, index, stream, sink)
            }
            Err(error) => Err(EngineError::Io { path, error }),
        }
    }

    /// The run as far as it was polled; none where its plan cannot be read by this program.
    pub fn run(&self) -> Option<&Run> {
        self.replay.as_ref().map(|replay| &replay.run)
    }
}

impl FollowedJob {
    /// Whether it has ended, and everything of it was read.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Passes on what the job printed, and of an agent what that means.
    fn pass(&mut self, stream: Stream, bytes: &[u8], sink: &mut NewsSink<'_>) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let mut more = sink(JobNews::Output { stream, bytes });
        if stream == Stream::Stdout
            && let Some(agent) = &mut self.agent
        {
            for news in agent.take(bytes) {
                more = sink(news);
            }
        }
        more
    }
}

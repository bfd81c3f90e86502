//! The interface between the engine's loop and whatever runs its jobs.

use crate::error::ExecutorError;
use crate::finished_job::Finished;
use crate::job_spec::{JobId, JobSpec};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use towpath_agent::BackendRow;
use towpath_core::{JobKey, SessionId, StepPath};
use towpath_process::{Leftover, Stream};

/// Runs jobs. No method but [`events`](Executor::events) and [`close`](Executor::close) waits for
/// anything.
pub trait Executor {
    /// Who answers agent calls.
    fn responder(&self) -> Responder;

    /// Ends a wait in [`events`](Executor::events) from another thread.
    fn waker(&self) -> Waker;

    /// Starts a job. Its end is reported once, as [`JobEvent::Finished`], also when it cannot be
    /// started.
    fn start(&mut self, job: JobSpec) -> Result<(), ExecutorError>;

    /// Asks a job to end, and ends it by force after the grace. Why it ends is decided by the first
    /// cause: a job that has timed out has timed out. An unknown job is no error, since its end may be
    /// on the way.
    fn stop(&mut self, job: JobId) -> Result<(), ExecutorError>;

    /// Ends a job by force, at once.
    fn kill(&mut self, job: JobId) -> Result<(), ExecutorError>;

    /// Halts every job where it is. Time until [`resume`](Executor::resume) counts against no timeout.
    fn pause(&mut self) -> Result<(), ExecutorError>;

    fn resume(&mut self) -> Result<(), ExecutorError>;

    /// Waits until something has happened, until it was woken, or until that time, and reports what has
    /// happened.
    fn events(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<(), ExecutorError>;

    /// Ends whatever still lives, background processes of finished jobs included, and reports the output
    /// that a slow reader has not taken yet. Nothing can be started afterwards.
    fn close(&mut self, observer: &mut dyn Observer) -> Result<(), ExecutorError>;
}

/// Takes what an executor reports.
pub trait Observer {
    fn event(&mut self, event: JobEvent<'_>);

    /// Whether more output can be taken now. Output that is not taken stays where it is.
    fn ready(&self) -> bool;
}

/// What happens to jobs.
#[derive(Debug)]
pub enum JobEvent<'a> {
    /// New output of a job. An agent's answer comes as its stdout. It may follow the job's end, where
    /// the reader is slow.
    Output { job: &'a JobKey, stream: Stream, bytes: &'a [u8] },
    /// What an agent does right now, in one line.
    Activity { step: &'a StepPath, what: &'a str },
    /// An agent has printed something that means nothing to a user: it is not silent.
    Heard { step: &'a StepPath },
    /// An agent's program has named the session of its call.
    SessionNamed { job: JobId, session: SessionId },
    /// The job is over.
    Finished(Box<Finished>),
    /// What [`Executor::close`] has ended.
    Swept(Swept),
}

/// What still lived when everything was ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    pub ended: Vec<Leftover>,
    /// What even `KILL` could not end in time.
    pub left: Vec<Leftover>,
}

/// Who answers agent calls.
#[derive(Debug, Clone, Copy)]
pub enum Responder {
    Nobody,
    /// An agent's program.
    Backend(&'static BackendRow),
    /// A program that embeds the engine, by itself.
    Adapter,
}

/// Ends the wait of an executor.
#[derive(Clone)]
pub struct Waker(Arc<dyn Fn() + Send + Sync>);

impl Waker {
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Waker {
        Waker(Arc::new(wake))
    }

    pub fn wake(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}

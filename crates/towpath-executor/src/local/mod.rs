//! The executor of this machine: every job is a child of the run's warden, prints into files of the
//! run's directory, and is ended at its timeouts.

mod agent_calls_file;
mod agent_lines;
mod idle_timer;
mod job_files;
mod job_to_child;
mod local_job;
mod output_follower;
mod warden_link;

pub(crate) use job_files::JobFiles;
pub(crate) use local_job::{LocalJob, answered, in_time};

use crate::error::ExecutorError;
use crate::executor::{Executor, JobEvent, Observer, Responder, Swept, Waker};
use crate::finished_job::{EndStatus, Finished};
use crate::job_spec::{JobId, JobSpec};
use crate::session_tree::SessionTree;
use crate::variables_by_directory::DirectoryVariables;
use output_follower::{OutputFollower, Shown};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use towpath_agent::{Backend, backend_row};
use towpath_core::{FaultKind, RunId, Secrets};
use towpath_process::{Awaited, Event, ExitStatus, Leftover, TerminalText};
use tracing::debug;
use warden_link::WardenLink;

/// How often output is looked at while jobs run.
const LOOK: Duration = Duration::from_millis(40);
/// How often it is looked at while a reader takes what there is.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// How long background processes have to end with the run.
const LAST_GRACE: Duration = Duration::from_secs(1);
/// How long the warden may take, beside the grace, to report that everything has ended.
const SWEEP_PATIENCE: Duration = Duration::from_secs(10);

/// How the warden is started.
#[derive(Debug, Clone)]
pub enum WardenStart {
    /// Forked from this process, which must not have started a thread yet, and which inherits the
    /// orphans of its warden: for a program that is the run's own, not for one that embeds the engine.
    Fork,
    /// Another program that runs `towpath_process::warden_main`.
    Program { path: PathBuf, arguments: Vec<OsString> },
}

/// Who answers agent calls on this machine.
#[derive(Debug, Clone)]
pub enum LocalAgents {
    None,
    Program(Arc<dyn Backend>),
    /// Each call brings its answer.
    Scripted,
}

/// What all jobs of a run are started with.
#[derive(Debug)]
pub struct LocalConfig {
    /// The run's own, for the files of its jobs: absolute, and UTF-8, since scripts name files in it.
    pub run_directory: PathBuf,
    /// The complete environment of the children.
    pub environment: Vec<(OsString, OsString)>,
    pub bash: PathBuf,
    pub agents: LocalAgents,
    /// Where each agent call is noted.
    pub calls: Option<PathBuf>,
    /// For agents only.
    pub session_tree: Option<SessionTree>,
    /// Likewise.
    pub directory_variables: DirectoryVariables,
    /// Masked in everything that comes out of the children.
    pub secrets: Secrets,
    /// How long a child may take to end after TERM.
    pub grace: Duration,
    /// What the warden writes to a terminal if this process is killed.
    pub text_if_killed: Option<TerminalText>,
}

pub struct LocalExecutor {
    config: LocalConfig,
    link: WardenLink,
    jobs: BTreeMap<JobId, LocalJob>,
    /// Output of finished jobs that a slow reader has not taken yet.
    trailing: Vec<OutputFollower>,
    /// How long to wait before output is looked at again.
    look: Duration,
    paused: Option<Instant>,
}

impl std::fmt::Debug for LocalExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalExecutor").field("config", &self.config).finish_non_exhaustive()
    }
}

impl LocalExecutor {
    /// Starts the run's warden, which owns the run's lock together with this process.
    pub fn open(
        config: LocalConfig,
        warden: &WardenStart,
        run: &RunId,
        lock: BorrowedFd<'_>,
    ) -> Result<LocalExecutor, ExecutorError> {
        let link = WardenLink::open(warden, run, lock, &config.secrets)?;
        if let Some(text) = &config.text_if_killed {
            link.warden.write_when_gone(text)?;
        }
        let (jobs, trailing) = (BTreeMap::new(), Vec::new());
        Ok(LocalExecutor { config, link, jobs, trailing, look: LOOK, paused: None })
    }

    /// Ends what is left, at once, and returns what cannot be ended.
    pub fn shut_down(self) -> Vec<Leftover> {
        self.link.shut_down(&self.config.secrets)
    }

    fn handle(&mut self, event: Event, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        match event {
            // Nothing waits for a start, and a sweep happens at the end only.
            Event::Started { .. } | Event::Swept { .. } => Ok(()),
            Event::StartFailed { id, error } => {
                let Some(job) = self.take(id) else { return Ok(()) };
                job.files.remove_inputs();
                let mut finished = Finished::new(job.id, EndStatus::NotStarted);
                finished.message = Some(error.text);
                observer.event(JobEvent::Finished(Box::new(finished)));
                Ok(())
            }
            Event::Ended { id, status, ended, left, lost } => {
                let Some(job) = self.take(id) else { return Ok(()) };
                if let Some(lost) = lost {
                    return Err(job.lost(lost));
                }
                self.ended(job, status, ended, left, observer)
            }
        }
    }

    fn take(&mut self, id: u64) -> Option<LocalJob> {
        self.jobs.remove(&JobId(u32::try_from(id).ok()?))
    }

    fn ended(
        &mut self,
        mut job: LocalJob,
        exit: ExitStatus,
        ended: Vec<Leftover>,
        left: Vec<Leftover>,
        observer: &mut dyn Observer,
    ) -> Result<(), ExecutorError> {
        let mut finished = job.end(exit, observer)?;
        debug!(job = job.id.0, status = ?finished.status, descendants_ended = ended.len(), "end");
        let unknown =
            matches!(finished.status, EndStatus::Faulted { kind: FaultKind::UnknownSession, .. });
        if let Some(again) = job.reopening.take_if(|_| unknown) {
            if let Some(session) = finished.session {
                observer.event(JobEvent::SessionNamed { job: job.id, session });
            }
            // What the first of the two printed is replaced by what the second does.
            job.files.remove_outputs();
            return self.start(*again);
        }
        job.output.release();
        if job.output.show(observer) != Shown::All {
            self.trailing.push(job.output);
        }
        (finished.ended, finished.left) = (ended, left);
        observer.event(JobEvent::Finished(Box::new(finished)));
        Ok(())
    }

    /// Shows new output, as far as the reader takes it.
    fn show(&mut self, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        let now = Instant::now();
        let mut some = false;
        self.trailing.retain_mut(|output| {
            let shown = output.show(observer);
            some |= shown == Shown::Some;
            shown != Shown::All
        });
        for (id, job) in &mut self.jobs {
            some |= job.follow(observer) == Shown::Some;
            if job.over.take_if(|at| *at <= now).is_some() {
                // It has printed its result; how it ends changes nothing.
                self.link.warden.stop(u64::from(id.0), self.config.grace)?;
            }
        }
        // A reader that reads gets more at once; one that does not is not waited for.
        self.look = if some { LOOK_AGAIN } else { LOOK };
        Ok(())
    }

    /// Ends the jobs whose time is over.
    fn expire(&mut self) -> Result<(), ExecutorError> {
        let now = Instant::now();
        for (id, job) in &mut self.jobs {
            if let Some(status) = job.overdue(now) {
                debug!(job = id.0, ?status, "the job's time is over");
                job.end_as(status);
                self.link.warden.stop(u64::from(id.0), self.config.grace)?;
            }
        }
        Ok(())
    }

    fn sweep(&mut self, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        self.link.warden.sweep(LAST_GRACE.min(self.config.grace))?;
        let limit = Instant::now() + SWEEP_PATIENCE + self.config.grace;
        loop {
            match self.link.events.next_before(limit) {
                Awaited::Event(Event::Swept { ended, left }) => {
                    observer.event(JobEvent::Swept(Swept { ended, left }));
                    return Ok(());
                }
                Awaited::Gone => return Ok(()),
                Awaited::Nothing if Instant::now() >= limit => return Ok(()),
                Awaited::Event(_) | Awaited::Nothing => {}
            }
        }
    }
}

impl Executor for LocalExecutor {
    fn responder(&self) -> Responder {
        match &self.config.agents {
            LocalAgents::None => Responder::Nobody,
            LocalAgents::Program(backend) => Responder::Backend(backend.row()),
            LocalAgents::Scripted => {
                backend_row("scripted").map_or(Responder::Nobody, Responder::Backend)
            }
        }
    }

    fn waker(&self) -> Waker {
        let waker = self.link.events.waker();
        Waker::new(move || waker.wake())
    }

    fn start(&mut self, mut job: JobSpec) -> Result<(), ExecutorError> {
        let mut files = JobFiles::new(&self.config.run_directory, job.id, &self.config.secrets);
        let (child, backend) = self.config.child(&mut job, &mut files)?;
        debug!(job = job.id.0, key = %job.key, program = ?child.program, "start");
        self.jobs.insert(job.id, LocalJob::new(job, files, backend.as_deref()));
        self.link.warden.start(&child)?;
        Ok(())
    }

    fn stop(&mut self, id: JobId) -> Result<(), ExecutorError> {
        if let Some(job) = self.jobs.get_mut(&id) {
            debug!(job = id.0, "stop");
            job.end_as(EndStatus::Stopped);
            self.link.warden.stop(u64::from(id.0), self.config.grace)?;
        }
        Ok(())
    }

    fn kill(&mut self, id: JobId) -> Result<(), ExecutorError> {
        if let Some(job) = self.jobs.get_mut(&id) {
            debug!(job = id.0, "kill");
            job.end_as(EndStatus::Stopped);
            self.link.warden.kill_now(u64::from(id.0))?;
        }
        Ok(())
    }

    fn pause(&mut self) -> Result<(), ExecutorError> {
        self.link.warden.pause_all()?;
        self.paused.get_or_insert_with(Instant::now);
        Ok(())
    }

    fn resume(&mut self) -> Result<(), ExecutorError> {
        self.link.warden.continue_all()?;
        if let Some(since) = self.paused.take() {
            let time = since.elapsed();
            self.jobs.values_mut().for_each(|job| job.was_paused(time));
        }
        Ok(())
    }

    fn events(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        let deadlines = self.jobs.values().filter(|job| job.is_wanted());
        let next = deadlines.filter_map(|job| job.deadline).fold(until, Instant::min);
        match self.link.events.next_before(next.min(Instant::now() + self.look)) {
            Awaited::Event(event) => self.handle(event, observer)?,
            Awaited::Nothing => {}
            Awaited::Gone => return Err(ExecutorError::Gone),
        }
        while let Some(event) = self.link.events.next_received() {
            self.handle(event, observer)?;
        }
        self.show(observer)?;
        self.expire()
    }

    fn close(&mut self, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        self.sweep(observer)?;
        while !self.trailing.is_empty() {
            self.show(observer)?;
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
}

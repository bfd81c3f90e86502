//! A job that runs: its timeouts, what has been read of its output, and what the end of its process
//! means.

use super::agent_lines::AgentLines;
use super::idle_timer::IdleTimer;
use super::job_files::JobFiles;
use super::output_follower::{OutputFollower, Shown};
use crate::error::{ExecutorError, io_error};
use crate::executor::{JobEvent, Observer};
use crate::finished_job::{EndStatus, Finished};
use crate::job_spec::{JobId, JobSpec, Work, new_session};
use std::time::{Duration, Instant};
use towpath_agent::{Backend, CallFault, CallProgress, End, Exit, Reply, SessionIds};
use towpath_core::{FaultKind, JobKey, StepPath};
use towpath_process::{ExitStatus, Lost, Stream};

/// How long a program may take to end by itself once it has printed its result.
const AFTER_RESULT: Duration = Duration::from_secs(5);

pub(crate) struct LocalJob {
    pub id: JobId,
    key: JobKey,
    step: StepPath,
    pub files: JobFiles,
    /// When it times out.
    pub deadline: Option<Instant>,
    pub idle: Option<IdleTimer>,
    /// Why we end it.
    ending: Option<EndStatus>,
    pub output: OutputFollower,
    agent: Option<AgentLines>,
    /// Its program is known to live on after its result.
    lingers: bool,
    /// When the program is ended that has printed its result and lives on.
    pub over: Option<Instant>,
    /// The call to make instead, where the session to continue turns out not to exist. Both are one job
    /// for everybody else.
    pub reopening: Option<Box<JobSpec>>,
}

impl LocalJob {
    pub fn new(job: JobSpec, files: JobFiles, backend: Option<&dyn Backend>) -> LocalJob {
        let reopening = backend.and_then(|backend| reopening(&job, backend));
        let withheld = reopening.is_some();
        LocalJob {
            deadline: job.timeout.map(in_time),
            idle: job.idle_timeout.map(IdleTimer::new),
            reopening,
            ..LocalJob::read_only(job.id, &job.key, files, backend, withheld)
        }
    }

    /// A job whose output is read and which cannot be ended.
    pub fn read_only(
        id: JobId,
        key: &JobKey,
        files: JobFiles,
        backend: Option<&dyn Backend>,
        withheld: bool,
    ) -> LocalJob {
        LocalJob {
            id,
            key: key.clone(),
            step: key.step_path(),
            files,
            deadline: None,
            idle: None,
            ending: None,
            output: OutputFollower::new(key, backend.is_some(), withheld),
            agent: backend.map(|backend| AgentLines::new(backend.reader())),
            lingers: backend.is_some_and(|backend| backend.row().can.lingers),
            over: None,
            reopening: None,
        }
    }

    /// Whether nothing has asked it to end so far.
    pub fn is_wanted(&self) -> bool {
        self.ending.is_none()
    }

    /// The first cause counts.
    pub fn end_as(&mut self, status: EndStatus) {
        self.ending.get_or_insert(status);
    }

    /// Why it has to end now, where it does.
    pub fn overdue(&mut self, now: Instant) -> Option<EndStatus> {
        if self.ending.is_some() {
            return None;
        }
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            return Some(EndStatus::TimedOut);
        }
        let idle = self.idle.as_mut()?;
        idle.is_over(&self.files, now).then_some(EndStatus::Silent(idle.timeout))
    }

    /// Time in which the job was paused counts against no timeout.
    pub fn was_paused(&mut self, time: Duration) {
        self.deadline = self.deadline.map(|deadline| deadline + time);
        self.idle.iter_mut().for_each(|idle| idle.was_paused(time));
    }

    /// Shows what is new in the output, and what an agent is doing.
    pub fn follow(&mut self, observer: &mut dyn Observer) -> Shown {
        self.output.open(&self.files, false);
        let shown = self.output.show(observer);
        let Some(agent) = &mut self.agent else { return shown };
        let (heard, progress) = agent.read(&self.files);
        if heard {
            observer.event(JobEvent::Heard { step: &self.step });
        }
        for progress in progress {
            self.take_progress(progress, observer);
        }
        shown
    }

    fn take_progress(&mut self, progress: CallProgress, observer: &mut dyn Observer) {
        if let Some(what) = progress.doing() {
            // It continues to work: another result will come.
            self.over = None;
            let what = self.files.secrets.mask(&what);
            observer.event(JobEvent::Activity { step: &self.step, what: &what });
        }
        match progress {
            CallProgress::Session(session) => {
                observer.event(JobEvent::SessionNamed { job: self.id, session });
            }
            CallProgress::Complete => {
                let patience = if self.lingers { Duration::ZERO } else { AFTER_RESULT };
                self.over = Some(in_time(patience));
            }
            _ => {}
        }
    }

    /// What the end of the process means. Reads the rest of its output.
    pub fn end(
        &mut self,
        exit: ExitStatus,
        observer: &mut dyn Observer,
    ) -> Result<Finished, ExecutorError> {
        self.output.open(&self.files, true);
        self.follow(observer);
        self.files.remove_inputs();
        let status = match (self.ending, exit.code, exit.signal) {
            (Some(ending), ..) => ending,
            (None, Some(code), _) => EndStatus::Exited(code),
            (None, None, signal) => EndStatus::Signalled(signal.unwrap_or(9)),
        };
        let mut finished = Finished::new(self.id, status);
        if let Some(lines) = self.agent.take() {
            self.end_call(lines, exit, &mut finished, observer)?;
        }
        Ok(finished)
    }

    fn end_call(
        &self,
        lines: AgentLines,
        exit: ExitStatus,
        finished: &mut Finished,
        observer: &mut dyn Observer,
    ) -> Result<(), ExecutorError> {
        let exit = Exit { code: exit.code, signal: exit.signal };
        let interrupted = !self.is_wanted() || exit == Exit { code: None, signal: None };
        let (files, stderr) = (self.files.left(), self.files.stderr_tail()?);
        let at_ms = jiff::Timestamp::now().as_millisecond();
        let end = End { exit, stderr: &stderr, at_ms, files: &files, interrupted };
        let Reply { result, usage, denials, session, session_total } = lines.finish(&end);
        self.files.remove_private();
        (finished.usage, finished.session_total) = (usage, session_total);
        finished.session = session;
        // The lines were masked as they came. Reading may uncover what an unusual escape hid.
        let mask = |text: &str| self.files.secrets.mask(text).into_owned();
        match result {
            Ok(text) => {
                // It is paid for. What ended the process afterwards does not matter.
                finished.status = EndStatus::Exited(0);
                answered(&self.key, mask(&text), finished, observer);
            }
            Err(CallFault { kind, until_ms, message }) => {
                // What our own signal did to the process explains nothing.
                if self.is_wanted() || kind != FaultKind::Crash {
                    finished.message = Some(mask(&message));
                }
                if self.is_wanted() {
                    finished.status = EndStatus::Faulted { kind, until_ms };
                }
            }
        }
        let denied = |denial| mask(&format!("the agent was denied: {denial}"));
        finished.warnings = denials.into_iter().map(denied).collect();
        Ok(())
    }

    /// An output that the disk did not take.
    pub fn lost(&self, lost: Lost) -> ExecutorError {
        let suffix = match lost.stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        io_error(&self.files.path(suffix))(lost.error())
    }
}

/// Takes an agent's answer, which is shown as its step's output.
pub(crate) fn answered(
    job: &JobKey,
    text: String,
    finished: &mut Finished,
    observer: &mut dyn Observer,
) {
    let mut bytes = text.clone().into_bytes();
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    observer.event(JobEvent::Output { job, stream: Stream::Stdout, bytes: &bytes });
    finished.answer = Some(text.trim_end_matches('\n').to_owned());
}

/// The same call that opens its session instead of continuing it.
fn reopening(job: &JobSpec, backend: &dyn Backend) -> Option<Box<JobSpec>> {
    if !matches!(&job.work, Work::Agent(work) if work.may_open_session && work.call.resume) {
        return None;
    }
    let mut job = Box::new(job.clone());
    let Work::Agent(work) = &mut job.work else { return None };
    work.may_open_session = false;
    work.call.resume = false;
    if backend.row().can.session_ids == SessionIds::ChosenOnce {
        // The old id is taken although nothing is there. The program names the new one.
        work.call.session = Some(new_session());
    }
    Some(job)
}

/// When a time from now is over. What is beyond all clocks is a hundred years.
pub(crate) fn in_time(time: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    Instant::now() + time.min(LONGEST)
}

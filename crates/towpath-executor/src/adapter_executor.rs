//! Jobs that an embedder's [`Adapter`] takes. Each is given to a thread, whose answer comes back as the
//! job's end. Nothing ever waits for an adapter: at a timeout or a stop the job ends at once, and an
//! answer that comes later is dropped. Jobs that the adapter does not take go to another executor.

use crate::embedder_adapter::{Abandoned, Adapter, AdapterError, AgentCall, BashCall};
use crate::error::ExecutorError;
use crate::executor::{Executor, JobEvent, Observer, Responder, Waker};
use crate::finished_job::{EndStatus, Finished};
use crate::job_spec::{JobId, JobSpec, Work};
use crate::local::{JobFiles, answered, in_time};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;
use towpath_core::{JobKind, Secrets};
use towpath_process::Stream;

/// What an adapter has answered. `None`: the other executor runs the command.
type Answer = Option<Result<String, AdapterError>>;

pub struct AdapterExecutor<'a> {
    adapter: Arc<dyn Adapter>,
    inner: &'a mut dyn Executor,
    run_directory: PathBuf,
    secrets: Secrets,
    jobs: BTreeMap<JobId, AdapterJob>,
    /// Ended without an answer, and not reported yet.
    abandoned: Vec<Finished>,
    answers: Receiver<(JobId, Answer)>,
    sender: Sender<(JobId, Answer)>,
    paused: Option<Instant>,
}

/// A job whose answer is awaited.
struct AdapterJob {
    spec: JobSpec,
    deadline: Option<Instant>,
    abandoned: Abandoned,
}

enum AdapterCall {
    Agent(AgentCall),
    Bash(BashCall),
}

impl AdapterCall {
    fn new(job: &JobSpec, abandoned: Abandoned) -> AdapterCall {
        let step = job.key.step_path().to_string();
        let (working_dir, timeout) = (job.directory.clone(), job.timeout);
        match &job.work {
            Work::Agent(work) => AdapterCall::Agent(AgentCall {
                step,
                prompt: work.call.prompt.clone(),
                agent: work.agent.clone(),
                system_prompt: work.call.system.clone(),
                mode: work.call.mode.clone(),
                model: work.call.model.clone(),
                working_dir,
                timeout,
                session: work.call.session.clone().unwrap_or_default(),
                earlier: work.earlier.clone(),
                abandoned,
            }),
            Work::Script { script, .. } => AdapterCall::Bash(BashCall {
                step,
                command: script.command_with_values(),
                working_dir,
                timeout,
                environment: job.environment.clone(),
                hook: job.key.kind.is_hook(),
                abandoned,
            }),
        }
    }

    fn make(&self, adapter: &dyn Adapter) -> Answer {
        let made = catch_unwind(AssertUnwindSafe(|| match self {
            AdapterCall::Agent(call) => Some(adapter.execute_agent_step(call)),
            AdapterCall::Bash(call) => adapter.execute_bash_step(call),
        }));
        made.unwrap_or_else(|panic| {
            let message = format!("{} panicked: {}", adapter.name(), panic_message(&*panic));
            Some(Err(AdapterError::new(message)))
        })
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it gave no reason")
}

impl<'a> AdapterExecutor<'a> {
    /// `inner` runs what the adapter does not take. Both keep their jobs' files in `run_directory`.
    pub fn new(
        adapter: Arc<dyn Adapter>,
        inner: &'a mut dyn Executor,
        run_directory: PathBuf,
        secrets: Secrets,
    ) -> AdapterExecutor<'a> {
        let (sender, answers) = mpsc::channel();
        AdapterExecutor {
            adapter,
            inner,
            run_directory,
            secrets,
            jobs: BTreeMap::new(),
            abandoned: Vec::new(),
            answers,
            sender,
            paused: None,
        }
    }

    /// Whether the adapter is asked about a job. Our own calls of git are none of its business, and what
    /// shall run in a sandbox would not do so there.
    fn takes(&self, job: &JobSpec) -> bool {
        let own_git = matches!(job.key.kind, JobKind::Snapshot | JobKind::GitAdd);
        let is_ours = match job.work {
            Work::Script { substitute, .. } => substitute || !job.sandbox.is_none(),
            Work::Agent(_) => false,
        };
        !own_git && !is_ours
    }

    fn ask(&mut self, spec: JobSpec) {
        let id = spec.id;
        let abandoned = Abandoned::default();
        let call = AdapterCall::new(&spec, abandoned.clone());
        let deadline = spec.timeout.map(in_time);
        self.jobs.insert(id, AdapterJob { spec, deadline, abandoned });
        let (adapter, sender, waker) =
            (Arc::clone(&self.adapter), self.sender.clone(), self.inner.waker());
        let work = move || {
            let answer = call.make(&*adapter);
            // A run that is over, or has abandoned the call, needs no answer.
            let _ = sender.send((id, answer));
            waker.wake();
        };
        let thread = std::thread::Builder::new().name(format!("adapter {id}")).spawn(work);
        if let Err(error) = thread {
            let _ = self.sender.send((id, Some(Err(error.into()))));
        }
    }

    /// Takes what the adapter has answered, if the job still runs.
    fn answered(
        &mut self,
        id: JobId,
        answer: Answer,
        observer: &mut dyn Observer,
    ) -> Result<(), ExecutorError> {
        let Some(AdapterJob { spec, .. }) = self.jobs.remove(&id) else { return Ok(()) };
        let Some(answer) = answer else { return self.inner.start(spec) };
        let finished = match &spec.work {
            Work::Agent(_) => self.call_finished(&spec, answer, observer),
            Work::Script { .. } => self.command_finished(&spec, answer, observer)?,
        };
        observer.event(JobEvent::Finished(Box::new(finished)));
        Ok(())
    }

    fn call_finished(
        &self,
        spec: &JobSpec,
        answer: Result<String, AdapterError>,
        observer: &mut dyn Observer,
    ) -> Finished {
        let mut finished = Finished::new(spec.id, EndStatus::Exited(0));
        match answer {
            Ok(text) => {
                let text = self.secrets.mask(&text).into_owned();
                answered(&spec.key, text, &mut finished, observer);
            }
            Err(AdapterError { kind, until_ms, message, .. }) => {
                finished.status = EndStatus::Faulted { kind, until_ms };
                finished.message = Some(self.secrets.mask(&message).into_owned());
            }
        }
        finished
    }

    /// What a command has printed becomes a file, as if a child had printed it.
    fn command_finished(
        &self,
        spec: &JobSpec,
        answer: Result<String, AdapterError>,
        observer: &mut dyn Observer,
    ) -> Result<Finished, ExecutorError> {
        let (code, suffix, stream, text) = match &answer {
            Ok(text) => (0, "stdout", Stream::Stdout, text),
            Err(error) => (error.exit_code, "stderr", Stream::Stderr, &error.message),
        };
        if !text.is_empty() {
            let files = JobFiles::new(&self.run_directory, spec.id, &self.secrets);
            files.create(suffix, text.as_bytes())?;
            let bytes = &*self.secrets.mask_bytes(text.as_bytes());
            let stream = if spec.key.kind.is_hook() { Stream::Stderr } else { stream };
            observer.event(JobEvent::Output { job: &spec.key, stream, bytes });
        }
        Ok(Finished::new(spec.id, EndStatus::Exited(code)))
    }

    /// Ends a job whose call may never return. Whether it was the adapter's.
    fn abandon(&mut self, id: JobId, status: EndStatus) -> bool {
        let Some(job) = self.jobs.remove(&id) else { return false };
        job.abandoned.set();
        self.abandoned.push(Finished::new(id, status));
        true
    }

    fn expire(&mut self) {
        let now = Instant::now();
        let late = |(id, job): (&JobId, &AdapterJob)| {
            job.deadline.is_some_and(|deadline| deadline <= now).then_some(*id)
        };
        for id in self.jobs.iter().filter_map(late).collect::<Vec<_>>() {
            self.abandon(id, EndStatus::TimedOut);
        }
    }

    /// Reports what has ended; whether anything has.
    fn report(&mut self, observer: &mut dyn Observer) -> Result<bool, ExecutorError> {
        let mut some = false;
        for finished in std::mem::take(&mut self.abandoned) {
            some = true;
            observer.event(JobEvent::Finished(Box::new(finished)));
        }
        while let Ok((id, answer)) = self.answers.try_recv() {
            some = true;
            self.answered(id, answer, observer)?;
        }
        Ok(some)
    }
}

impl std::fmt::Debug for AdapterExecutor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdapterExecutor").field("adapter", &self.adapter).finish_non_exhaustive()
    }
}

impl Executor for AdapterExecutor<'_> {
    fn responder(&self) -> Responder {
        Responder::Adapter
    }

    fn waker(&self) -> Waker {
        self.inner.waker()
    }

    fn start(&mut self, job: JobSpec) -> Result<(), ExecutorError> {
        if self.takes(&job) {
            self.ask(job);
            Ok(())
        } else {
            self.inner.start(job)
        }
    }

    fn stop(&mut self, job: JobId) -> Result<(), ExecutorError> {
        if self.abandon(job, EndStatus::Stopped) { Ok(()) } else { self.inner.stop(job) }
    }

    fn kill(&mut self, job: JobId) -> Result<(), ExecutorError> {
        if self.abandon(job, EndStatus::Stopped) { Ok(()) } else { self.inner.kill(job) }
    }

    fn pause(&mut self) -> Result<(), ExecutorError> {
        self.paused.get_or_insert_with(Instant::now);
        self.inner.pause()
    }

    fn resume(&mut self) -> Result<(), ExecutorError> {
        if let Some(since) = self.paused.take() {
            let time = since.elapsed();
            for job in self.jobs.values_mut() {
                job.deadline = job.deadline.map(|deadline| deadline + time);
            }
        }
        self.inner.resume()
    }

    fn events(&mut self, until: Instant, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        let waits = !self.report(observer)?;
        let deadlines = self.jobs.values().filter_map(|job| job.deadline);
        let until = if waits { deadlines.fold(until, Instant::min) } else { Instant::now() };
        self.inner.events(until, observer)?;
        self.expire();
        self.report(observer).map(drop)
    }

    fn close(&mut self, observer: &mut dyn Observer) -> Result<(), ExecutorError> {
        self.inner.close(observer)
    }
}

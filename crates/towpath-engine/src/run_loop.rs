//! The loop. It records what the run wants before starting it, and what happened before continuing.
//! Who runs the jobs, and where, is the executor's business.

use crate::agent_sessions_and_usage::Sessions;
use crate::clock::Clock;
use crate::config::DriverConfig;
use crate::error::EngineError;
use crate::event_reporter::EventSender;
use crate::executor_end_to_job_end::settle;
use crate::executor_observer::{ExecutorObserver, Observation};
use crate::keep_secrets_out_of_record::masked;
use crate::outputs_read_by_plan::OutputsRead;
use crate::plan_and_report_agent_call::StartedCall;
use crate::required_programs::MetRequirements;
use crate::run_owner::LOCK;
use crate::run_summary::summary;
use crate::sandboxed_steps::confined;
use crate::scripted_agent_lines_taken::ScriptLines;
use crate::step_counts::census;
use crate::stop_or_pause_run::Control;
use crate::stored_facts::to_store;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use towpath_core::{JobKey, RunId, SessionId, StepPath};
use towpath_executor::{
    Confinement, EndStatus, Executor, Finished, JobId, JobSpec, Leftover, RunLock, Sandbox, Swept,
    Work,
};
use towpath_run::{
    CallStarted, EndedWith, EventKind, Fact, Job, JobEnd, JobStatus, JobWork, Run, RunOutcome,
    StopReason,
};
use towpath_shell::Filled;
use towpath_store::{NewFact, OutputRef, Store, StoreError};
use tracing::debug;

/// How long the loop waits at most before it looks around.
const LOOK: Duration = Duration::from_millis(40);
/// How often a reporter is given a turn.
const TICK: Duration = Duration::from_millis(80);

/// How a run ended for its owner.
#[derive(Debug)]
pub struct RunEnd {
    pub id: RunId,
    pub outcome: RunOutcome,
    pub run: Run,
    pub warnings: Vec<String>,
    /// How long this owner drove it.
    pub took: Duration,
    /// Lines of a script that no call has taken.
    pub unused_lines: Vec<u32>,
    /// The last session that an agent of the state machine worked in.
    pub session: Option<SessionId>,
}

pub(crate) struct Driver<'a> {
    pub store: &'a mut Store,
    pub id: RunId,
    pub run: Run,
    pub config: DriverConfig,
    /// The run's own, where its jobs' files are.
    pub directory: PathBuf,
    pub executor: &'a mut dyn Executor,
    pub controls: Receiver<Control>,
    pub events: EventSender<'a>,
    pub script: ScriptLines,
    pub sessions: Sessions,
    pub reads: OutputsRead,
    pub facts: u32,
    pub jobs: BTreeMap<JobId, StartedJob>,
    pub pending: Vec<NewFact>,
    pub warnings: Vec<String>,
    pub timers: BTreeMap<StepPath, Instant>,
    pub began: Instant,
    pub clock: Clock,
    /// The run is ours while the file of this lock exists.
    pub lock: &'a RunLock,
    pub requirements: MetRequirements,
    /// How sandboxed jobs are confined.
    pub sandbox: Option<Confinement>,
    pub active_before_ms: i64,
    pub last_tick: Instant,
}

/// A job that was started and whose end is not known yet.
pub(crate) struct StartedJob {
    pub key: JobKey,
    /// We have asked for its end.
    stopping: bool,
    pub call: Option<StartedCall>,
}

/// A job that is recorded as started and about to be.
type Launch = (JobSpec, Option<StartedCall>);

impl Driver<'_> {
    pub fn run(mut self) -> Result<RunEnd, EngineError> {
        loop {
            let launches = self.want()?;
            let outcome = if launches.is_empty() { self.run.outcome() } else { None };
            self.record(outcome.as_ref())?;
            self.report();
            for launch in launches {
                self.launch(launch)?;
            }
            if !self.pending.is_empty() {
                continue;
            }
            if let Some(outcome) = outcome {
                return self.finish(outcome);
            }
            self.set_timers();
            self.wait()?;
        }
    }

    /// Takes the jobs that the run wants now, and notes each as started.
    fn want(&mut self) -> Result<Vec<Launch>, EngineError> {
        let mut launches = Vec::new();
        for job in self.run.next() {
            launches.extend(self.plan(job)?);
        }
        Ok(launches)
    }

    /// What a job is started with; nothing where nobody can answer it, which is its end.
    fn plan(&mut self, job: Job) -> Result<Option<Launch>, EngineError> {
        let Job { key, work, directory, timeout, environment, sandboxed } = job;
        let (mut line, mut session, mut call) = (None, None, None);
        let work = match work {
            JobWork::Bash(script) => self.script_of(&key, script),
            JobWork::Agent(agent) => match self.call(&key, *agent, timeout)? {
                Ok(planned) => {
                    line = planned.work.scripted.as_ref().map(|answer| answer.number);
                    (session, call) = (planned.session, planned.started);
                    Work::Agent(Box::new(planned.work))
                }
                Err(end) => {
                    self.started(&key, None, None, None)?;
                    self.apply(Fact::JobFinished { key, end: *end })?;
                    return Ok(None);
                }
            },
        };
        self.started(&key, line, session, call.as_ref().map(|call| &call.started))?;
        let directory = match directory.as_str() {
            "" => self.config.directory.clone(),
            inside => self.config.directory.join(inside),
        };
        let idle_timeout = self.config.idle_timeout.filter(|_| key.kind.is_work());
        let id = JobId(self.facts);
        let sandbox = Sandbox::None;
        let spec =
            JobSpec { id, key, work, directory, timeout, idle_timeout, environment, sandbox };
        let spec = if sandboxed { self.confined(spec)? } else { spec };
        Ok(Some((spec, call)))
    }

    /// The job in its sandbox. There is one, because no run begins without.
    fn confined(&self, spec: JobSpec) -> Result<JobSpec, EngineError> {
        match &self.sandbox {
            Some(confinement) => Ok(confined(spec, confinement, &self.requirements)),
            None => {
                let steps = vec![spec.key.step_path().to_string()];
                Err(EngineError::NoSandbox { steps, reason: "the run has none".to_owned() })
            }
        }
    }

    /// A step's own command, or what replaces it.
    fn script_of(&self, key: &JobKey, script: Filled) -> Work {
        match self.config.substitutes.of(key) {
            Some(text) => {
                let script = Filled::plain(text.to_owned());
                Work::Script { script, substitute: true }
            }
            None => Work::Script { script, substitute: false },
        }
    }

    fn started(
        &mut self,
        key: &JobKey,
        line: Option<u32>,
        session: Option<SessionId>,
        call: Option<&CallStarted>,
    ) -> Result<(), EngineError> {
        let backend = call.map(|call| call.backend.clone());
        let model = call.and_then(|call| call.model.clone());
        self.apply(Fact::JobStarted { key: key.clone(), line, session, backend, model })
    }

    /// Applies a fact; it is recorded before anything else starts.
    pub(crate) fn apply(&mut self, fact: Fact) -> Result<(), EngineError> {
        self.apply_with(fact, None, None)
    }

    fn apply_with(
        &mut self,
        fact: Fact,
        stdout: Option<OutputRef>,
        stderr: Option<OutputRef>,
    ) -> Result<(), EngineError> {
        let at = self.clock.now_ms();
        let fact = masked(&self.config.secrets, fact);
        self.run.apply(&fact, at)?;
        self.pending.push(to_store(&fact, at, stdout, stderr));
        self.facts += 1;
        debug!(seq = self.facts, kind = fact.kind(), key = fact.key().map(display), "fact");
        Ok(())
    }

    fn record(&mut self, outcome: Option<&RunOutcome>) -> Result<(), EngineError> {
        let mut totals = None;
        if let Some(outcome) = outcome {
            self.apply(Fact::Ended { outcome: outcome.as_str().to_owned() })?;
            let active = self.active_before_ms + self.began.elapsed().as_millis() as i64;
            totals = Some(summary(&self.run, Some(outcome), active));
        }
        if !self.pending.is_empty() {
            self.store.append(&self.id, &self.pending, totals.as_ref())?;
            debug!(facts = self.pending.len(), "committed");
            self.pending.clear();
            if outcome.is_some() {
                self.store.settle_run(&self.id)?;
            }
            if !self.lock.has_its_path(&self.directory.join(LOCK)) {
                return Err(StoreError::Gone { path: self.directory.clone() }.into());
            }
        }
        Ok(())
    }

    /// Reports what the run has decided.
    fn report(&mut self) {
        for kind in self.run.take_events() {
            match kind {
                EventKind::Warning { step, message } => self.warn(step, message),
                decided => self.send(decided),
            }
        }
    }

    pub(crate) fn send(&mut self, kind: EventKind) {
        self.events.send(self.clock.now_ms(), kind);
    }

    fn launch(&mut self, (spec, call): Launch) -> Result<(), EngineError> {
        if let Some(call) = &call {
            self.send(EventKind::CallStarted(call.started.clone()));
        }
        let key = spec.key.clone();
        self.jobs.insert(spec.id, StartedJob { key, stopping: false, call });
        Ok(self.executor.start(spec)?)
    }

    /// Starts the clocks of recipe steps that have a timeout.
    fn set_timers(&mut self) {
        let wanted = self.run.timers();
        self.timers.retain(|step, _| wanted.iter().any(|t| t.step == *step));
        for timer in wanted {
            self.timers.entry(timer.step).or_insert_with(|| in_time(timer.after));
        }
    }

    /// Waits for one thing to happen, then takes whatever else has happened.
    fn wait(&mut self) -> Result<(), EngineError> {
        let until = self.timers.values().copied().fold(Instant::now() + LOOK, Instant::min);
        let mut observed = ExecutorObserver::new(&mut self.events, self.clock);
        self.executor.events(until, &mut observed)?;
        for observation in observed.observations {
            self.take(observation)?;
        }
        while let Ok(control) = self.controls.try_recv() {
            match control {
                Control::Stop(reason) => self.stop(reason)?,
                Control::Pause(meanwhile) => self.pause(meanwhile)?,
            }
        }
        if self.last_tick.elapsed() >= TICK {
            self.last_tick = Instant::now();
            self.events.reporter.tick();
        }
        self.expire()
    }

    fn take(&mut self, observation: Observation) -> Result<(), EngineError> {
        match observation {
            Observation::SessionNamed { job, session } => {
                let Some(job) = self.jobs.get(&job) else { return Ok(()) };
                let keeps = job.call.as_ref().is_some_and(|call| call.keeps_session);
                let key = job.key.clone();
                self.named(&key, session, keeps)
            }
            Observation::Finished(finished) => match self.jobs.remove(&finished.job) {
                Some(job) => self.finished(job, *finished),
                // The end of a job that has ended, or was never started.
                None => Ok(()),
            },
            Observation::Swept(Swept { ended, left }) => {
                self.report_ended(&ended, EndedWith::Run);
                self.warn_of_left(&left);
                Ok(())
            }
        }
    }

    /// Records the timers of recipe steps that have run out, and ends jobs that nothing waits for.
    fn expire(&mut self) -> Result<(), EngineError> {
        let now = Instant::now();
        let over: Vec<StepPath> =
            self.timers.iter().filter(|(_, d)| **d <= now).map(|(s, _)| s.clone()).collect();
        for step in over {
            self.timers.remove(&step);
            debug!(%step, "the step's time is over");
            self.apply(Fact::Expired { step })?;
        }
        for key in self.run.unwanted() {
            let job = self.jobs.iter_mut().find(|(_, job)| job.key == key && !job.stopping);
            if let Some((id, job)) = job {
                job.stopping = true;
                self.executor.stop(*id)?;
            }
        }
        Ok(())
    }

    /// Takes the end of a job, and what it has printed.
    fn finished(&mut self, job: StartedJob, mut finished: Finished) -> Result<(), EngineError> {
        let StartedJob { key, call, .. } = job;
        if finished.status == EndStatus::NotStarted {
            let error = finished.message.unwrap_or_default();
            let end = JobEnd { error, ..JobEnd::new(JobStatus::NotStarted) };
            return self.apply(Fact::JobFinished { key, end });
        }
        self.report_ended(&finished.ended, EndedWith::Step);
        let session = finished.session.take();
        let mut settled = settle(&self.directory, &key, finished, &self.reads)?;
        if let Some(session) = session {
            let keeps = call.as_ref().is_some_and(|call| call.keeps_session);
            self.named(&key, session, keeps)?;
        }
        if let (Some(total), Some(session)) = (settled.end.session_total, self.sessions.of(&key)) {
            settled.end.usage = Some(self.sessions.used(&session, total));
        }
        for message in settled.warnings {
            self.warn(Some(key.step_path()), message);
        }
        if let Some(call) = &call {
            self.report_answer(&key, call, &settled.end);
        }
        self.script.finished(&key, &settled.end);
        let end = settled.end;
        self.apply_with(Fact::JobFinished { key, end }, settled.stdout, settled.stderr)
    }

    fn stop(&mut self, reason: StopReason) -> Result<(), EngineError> {
        let again = self.run.is_stopping();
        if !again {
            self.apply(Fact::Stopping { reason })?;
            self.send(EventKind::Stopping);
        }
        for (id, job) in &mut self.jobs {
            job.stopping = true;
            if again { self.executor.kill(*id)? } else { self.executor.stop(*id)? }
        }
        Ok(())
    }

    /// Time spent paused does not count against any deadline.
    fn pause(&mut self, meanwhile: Box<dyn FnOnce() + Send>) -> Result<(), EngineError> {
        self.send(EventKind::Suspended);
        self.executor.pause()?;
        let paused = Instant::now();
        meanwhile();
        self.executor.resume()?;
        let away = paused.elapsed();
        for deadline in self.timers.values_mut() {
            *deadline += away;
        }
        self.send(EventKind::Continued);
        Ok(())
    }

    pub(crate) fn warn(&mut self, step: Option<StepPath>, message: String) {
        self.warnings.push(match &step {
            Some(step) => format!("{step}: {message}"),
            None => message.clone(),
        });
        self.send(EventKind::Warning { step, message });
    }

    fn report_ended(&mut self, processes: &[Leftover], why: EndedWith) {
        if !processes.is_empty() {
            let processes = processes.iter().map(describe).collect();
            self.send(EventKind::Ended { processes, why });
        }
    }

    fn warn_of_left(&mut self, processes: &[Leftover]) {
        if !processes.is_empty() {
            let names: Vec<String> = processes.iter().map(describe).collect();
            let names = names.join(", ");
            self.warn(None, format!("still running after KILL: {names}"));
        }
    }

    /// Ends what still lives in the background, then reports how the run ended.
    fn finish(mut self, outcome: RunOutcome) -> Result<RunEnd, EngineError> {
        let mut observed = ExecutorObserver::new(&mut self.events, self.clock);
        self.executor.close(&mut observed)?;
        for observation in observed.observations {
            if let Observation::Swept(_) = observation {
                self.take(observation)?;
            }
        }
        let (run, steps) = (self.id.clone(), self.run.view());
        self.send(EventKind::RunEnded { run, outcome: outcome.clone(), steps });
        let unused_lines =
            if census(&self.run).reached_end { self.script.unused() } else { Vec::new() };
        let last_call = self.run.last_machine_call();
        let session = last_call.and_then(|call| self.sessions.of(&call));
        Ok(RunEnd {
            session,
            id: self.id,
            outcome,
            run: self.run,
            warnings: self.warnings,
            took: self.began.elapsed(),
            unused_lines,
        })
    }
}

/// When a time from now is over. What is beyond all clocks is a hundred years.
fn in_time(time: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    Instant::now() + time.min(LONGEST)
}

pub(crate) fn describe(leftover: &Leftover) -> String {
    format!("{} ({})", leftover.command, leftover.pid)
}

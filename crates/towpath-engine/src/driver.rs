//! The loop. It records what the run wants before starting it, and what happened before continuing.
//! Who runs the jobs, and where, is the executor's business.

use crate::calls::{Calls, StartedCall};
use crate::census::census;
use crate::controller::Control;
use crate::error::EngineError;
use crate::jobs::{Jobs, RunningJob};
use crate::journal::Journal;
use crate::reports::{Observation, Reports};
use crate::run_summary::summary;
use crate::settle::settle;
use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use towpath_core::{JobKey, RunId, SessionId, StepPath};
use towpath_executor::{EndStatus, Finished, JobId, JobSpec, Work};
use towpath_run::{
    EndedWith, EventKind, Fact, Job, JobEnd, JobStatus, JobWork, Run, RunOutcome, StopReason,
};
use towpath_store::OutputRef;
use tracing::debug;

/// How long the loop waits at most before it looks around.
const LOOK: Duration = Duration::from_millis(40);

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
    pub run: Run,
    pub journal: Journal<'a>,
    pub reports: Reports<'a>,
    pub jobs: Jobs<'a>,
    pub calls: Calls,
    /// When the time of recipe steps runs out.
    pub deadlines: BTreeMap<StepPath, Instant>,
    pub controls: Receiver<Control>,
    pub began: Instant,
    /// How long earlier owners drove the run.
    pub active_before_ms: i64,
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
            for (spec, call) in launches {
                if let Some(call) = &call {
                    self.reports.send(EventKind::CallStarted(call.started.clone()));
                }
                self.jobs.start(spec, call)?;
            }
            if !self.journal.pending.is_empty() {
                continue;
            }
            if let Some(outcome) = outcome {
                return self.finish(outcome);
            }
            self.set_deadlines();
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
        let key = &job.key;
        let (work, call) = match job.work.clone() {
            JobWork::Bash(script) => {
                self.apply(Fact::job_started(key.clone()))?;
                (self.jobs.script(key, script), None)
            }
            JobWork::Agent(agent) => {
                let responder = self.jobs.executor.responder();
                match self.calls.plan(key, *agent, job.timeout, responder)? {
                    Ok(planned) => {
                        if let Some(message) = planned.warning {
                            self.reports.warn(Some(key.step_path()), message);
                        }
                        self.apply(planned.fact)?;
                        (Work::Agent(Box::new(planned.work)), planned.started)
                    }
                    Err(end) => {
                        self.apply(Fact::job_started(key.clone()))?;
                        self.apply(Fact::JobFinished { key: key.clone(), end: *end })?;
                        return Ok(None);
                    }
                }
            }
        };
        let spec = self.jobs.spec(JobId(self.journal.facts), work, job)?;
        Ok(Some((spec, call)))
    }

    /// Applies a fact; it is recorded before anything else starts.
    fn apply(&mut self, fact: Fact) -> Result<(), EngineError> {
        self.apply_with(fact, None, None)
    }

    fn apply_with(
        &mut self,
        fact: Fact,
        stdout: Option<OutputRef>,
        stderr: Option<OutputRef>,
    ) -> Result<(), EngineError> {
        let at_ms = self.reports.clock.now_ms();
        let fact = self.journal.note(fact, at_ms, stdout, stderr);
        Ok(self.run.apply(&fact, at_ms)?)
    }

    fn record(&mut self, outcome: Option<&RunOutcome>) -> Result<(), EngineError> {
        let Some(outcome) = outcome else { return self.journal.write(None) };
        self.apply(Fact::Ended { outcome: outcome.as_str().to_owned() })?;
        let active = self.active_before_ms + self.began.elapsed().as_millis() as i64;
        self.journal.write(Some(&summary(&self.run, Some(outcome), active)))
    }

    /// Reports what the run has decided.
    fn report(&mut self) {
        for kind in self.run.take_events() {
            match kind {
                EventKind::Warning { step, message } => self.reports.warn(step, message),
                decided => self.reports.send(decided),
            }
        }
    }

    /// Starts the clocks of recipe steps that have a timeout.
    fn set_deadlines(&mut self) {
        let wanted = self.run.timers();
        self.deadlines.retain(|step, _| wanted.iter().any(|timer| timer.step == *step));
        for timer in wanted {
            self.deadlines.entry(timer.step).or_insert_with(|| in_time(timer.after));
        }
    }

    /// Waits for one thing to happen, then takes whatever else has happened.
    fn wait(&mut self) -> Result<(), EngineError> {
        let until = self.deadlines.values().copied().fold(Instant::now() + LOOK, Instant::min);
        self.jobs.executor.events(until, &mut self.reports)?;
        for observation in self.reports.take_observed() {
            self.take(observation)?;
        }
        while let Ok(control) = self.controls.try_recv() {
            match control {
                Control::Stop(reason) => self.stop(reason)?,
                Control::Pause(meanwhile) => self.pause(meanwhile)?,
            }
        }
        self.reports.tick();
        self.expire()
    }

    fn take(&mut self, observation: Observation) -> Result<(), EngineError> {
        match observation {
            Observation::SessionNamed { job, session } => {
                let Some(job) = self.jobs.running.get(&job) else { return Ok(()) };
                let (key, keeps) = (job.key.clone(), job.keeps_session());
                self.named(&key, session, keeps)
            }
            Observation::Finished(finished) => match self.jobs.running.remove(&finished.job) {
                Some(job) => self.finished(&job, *finished),
                // The end of a job that has ended, or was never started.
                None => Ok(()),
            },
            Observation::Swept(swept) => {
                self.reports.swept(&swept);
                Ok(())
            }
        }
    }

    /// Records the recipe steps whose time has run out, and ends jobs that nothing waits for.
    fn expire(&mut self) -> Result<(), EngineError> {
        let now = Instant::now();
        for (step, _) in
            self.deadlines.extract_if(.., |_, deadline| *deadline <= now).collect::<Vec<_>>()
        {
            debug!(%step, "the step's time is over");
            self.apply(Fact::Expired { step })?;
        }
        for key in self.run.unwanted() {
            self.jobs.stop(&key)?;
        }
        Ok(())
    }

    /// An agent's program has named the session of a call.
    fn named(&mut self, key: &JobKey, session: SessionId, keeps: bool) -> Result<(), EngineError> {
        if !self.calls.named(key, &session, keeps)? {
            return Ok(());
        }
        self.apply(Fact::SessionOpened { key: key.clone(), session })
    }

    /// Takes the end of a job, and what it has printed.
    fn finished(&mut self, job: &RunningJob, mut finished: Finished) -> Result<(), EngineError> {
        let key = job.key.clone();
        if finished.status == EndStatus::NotStarted {
            let error = finished.message.unwrap_or_default();
            let end = JobEnd { error, ..JobEnd::new(JobStatus::NotStarted) };
            return self.apply(Fact::JobFinished { key, end });
        }
        self.reports.ended(&finished.ended, EndedWith::Step);
        let session = finished.session.take();
        let settled = settle(&self.journal.directory, &key, finished, &self.journal.reads)?;
        let mut end = settled.end;
        if let Some(session) = session {
            self.named(&key, session, job.keeps_session())?;
        }
        self.calls.sessions.complete(&key, &mut end);
        for message in settled.warnings {
            self.reports.warn(Some(key.step_path()), message);
        }
        if let Some(call) = &job.call {
            let ended = self.calls.ended(&key, call, &end);
            self.reports.send(EventKind::CallEnded(ended));
        }
        self.calls.script.finished(&key, &end);
        self.apply_with(Fact::JobFinished { key, end }, settled.stdout, settled.stderr)
    }

    fn stop(&mut self, reason: StopReason) -> Result<(), EngineError> {
        let again = self.run.is_stopping();
        if !again {
            self.apply(Fact::Stopping { reason })?;
            self.reports.send(EventKind::Stopping);
        }
        self.jobs.stop_all(again)
    }

    /// Time spent paused does not count against any deadline.
    fn pause(&mut self, meanwhile: Box<dyn FnOnce() + Send>) -> Result<(), EngineError> {
        self.reports.send(EventKind::Suspended);
        self.jobs.executor.pause()?;
        let paused = Instant::now();
        meanwhile();
        self.jobs.executor.resume()?;
        let away = paused.elapsed();
        self.deadlines.values_mut().for_each(|deadline| *deadline += away);
        self.reports.send(EventKind::Continued);
        Ok(())
    }

    /// Ends what still lives in the background, then reports how the run ended.
    fn finish(mut self, outcome: RunOutcome) -> Result<RunEnd, EngineError> {
        self.jobs.executor.close(&mut self.reports)?;
        for observation in self.reports.take_observed() {
            if let Observation::Swept(swept) = observation {
                self.reports.swept(&swept);
            }
        }
        let (run, steps) = (self.journal.id.clone(), self.run.view());
        self.reports.send(EventKind::RunEnded { run, outcome: outcome.clone(), steps });
        let reached_end = census(&self.run).reached_end;
        let unused_lines = if reached_end { self.calls.script.unused() } else { Vec::new() };
        let last_call = self.run.last_machine_call();
        let session = last_call.and_then(|call| self.calls.sessions.of(&call));
        Ok(RunEnd {
            session,
            id: self.journal.id,
            outcome,
            run: self.run,
            warnings: self.reports.warnings,
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

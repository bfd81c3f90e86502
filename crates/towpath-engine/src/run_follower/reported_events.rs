//! A followed run as events: those that its owner reports.
//!
//! What the owner alone knows is missing: processes that it ended, that it was suspended, and warnings
//! that are not in the record (a model that the backend has nothing for, an output that is not UTF-8).

use super::{JobNews, RunFollower};
use crate::calls::call_ended;
use crate::clock::now_ms;
use crate::error::EngineError;
use crate::event_reporter::{EventSender, Reporter};
use std::time::Duration;
use towpath_core::{JobKey, JobKind, SessionId, Stream};
use towpath_run::{CallStarted, EventKind, Fact, JobEnd, JobWork, Run};
use towpath_store::{Store, StoredFact};

/// A call of an agent's program, as its owner reported its start.
#[derive(Debug)]
pub(super) struct FollowedCall {
    started: CallStarted,
    timeout: Option<Duration>,
    started_ms: i64,
}

impl RunFollower {
    /// Reports everything that is new. An event of the record has the time of its fact; what a running
    /// job prints has the time at which it was read.
    pub fn poll(&mut self, store: &Store, reporter: &mut dyn Reporter) -> Result<(), EngineError> {
        self.report(store, reporter, true)
    }

    /// As `poll`, without what the jobs print: their output is not read. The next `poll` reports it.
    pub fn poll_without_output(
        &mut self,
        store: &Store,
        reporter: &mut dyn Reporter,
    ) -> Result<(), EngineError> {
        self.report(store, reporter, false)
    }

    fn report(
        &mut self,
        store: &Store,
        reporter: &mut dyn Reporter,
        output: bool,
    ) -> Result<(), EngineError> {
        let mut events = EventSender { reporter, seq: self.reported };
        let mut reported = self.report_facts(store, &mut events, output);
        if reported.is_ok() && output {
            reported = self.report_jobs(store, &mut events);
        }
        self.reported = events.seq;
        reported
    }

    fn report_facts(
        &mut self,
        store: &Store,
        events: &mut EventSender<'_>,
        output: bool,
    ) -> Result<(), EngineError> {
        for stored in store.whole_facts_after(&self.row.id, self.seen)? {
            match self.take(&stored) {
                Some(Fact::JobStarted { key, backend: Some(backend), session, model, .. }) => {
                    let call = self.call(&key, backend, session, model, stored.at_ms);
                    if let Some(job) = self.job(&key) {
                        self.jobs[job].call = call;
                    }
                }
                Some(Fact::JobFinished { key, .. }) if output => {
                    if let Some(job) = self.job(&key) {
                        self.report_job(store, job, stored.at_ms, events)?;
                    }
                }
                _ => {}
            }
            self.report_fact(store, &stored, events)?;
        }
        Ok(())
    }

    fn report_jobs(
        &mut self,
        store: &Store,
        events: &mut EventSender<'_>,
    ) -> Result<(), EngineError> {
        for job in 0..self.jobs.len() {
            self.report_job(store, job, now_ms(), events)?;
        }
        Ok(())
    }

    /// What a call is made with: the run knows it until it takes the fact of its start.
    fn call(
        &self,
        key: &JobKey,
        backend: String,
        session: Option<SessionId>,
        model: Option<String>,
        started_ms: i64,
    ) -> Option<FollowedCall> {
        let job = self.run()?.wanted(key)?;
        let JobWork::Agent(agent) = &job.work else { return None };
        let started = CallStarted {
            step: key.step_path(),
            backend,
            session,
            resumes: self.sessions.continued(agent).is_some(),
            model,
            is_reminder: key.call > 0,
            length: agent.prompt.chars().count(),
        };
        Some(FollowedCall { started, timeout: job.timeout, started_ms })
    }

    fn report_job(
        &mut self,
        store: &Store,
        job: usize,
        at_ms: i64,
        events: &mut EventSender<'_>,
    ) -> Result<(), EngineError> {
        let key = self.jobs[job].key.clone();
        // What our own git prints is not shown.
        if !key.kind.is_hook() && !key.kind.is_work() {
            return Ok(());
        }
        self.read_job(store, job, &mut |news| {
            let step = key.step_path();
            match news {
                JobNews::Output { stream: Stream::Stdout, .. } if key.kind == JobKind::Agent => {
                    events.send(at_ms, EventKind::Heard { step });
                }
                JobNews::Output { stream, bytes } => {
                    // A hook's output is no step's output.
                    let stream = if key.kind.is_hook() { Stream::Stderr } else { stream };
                    let (job, bytes) = (key.clone(), bytes.to_vec());
                    events.send(at_ms, EventKind::Output { step, job, stream, bytes });
                }
                JobNews::Agent(sign) => {
                    if let Some(what) = sign.doing() {
                        events.send(at_ms, EventKind::Doing { step, what });
                    }
                }
                JobNews::Ended(end) => {
                    if let Some(answer) = answer(&key, end) {
                        events.send(at_ms, answer);
                    }
                }
            }
            events.reporter.ready()
        })
    }

    /// What the run makes of a fact, and what is reported of a call.
    fn report_fact(
        &mut self,
        store: &Store,
        stored: &StoredFact,
        events: &mut EventSender<'_>,
    ) -> Result<(), EngineError> {
        let Some(replay) = &mut self.replay else { return Ok(()) };
        let fact = replay.apply(store, stored)?;
        let mut decided = replay.run.take_events();
        self.sessions.note(&fact);
        match &fact {
            Fact::Started | Fact::Resumed => decided.insert(0, self.run_started(&fact)),
            Fact::JobStarted { key, .. } => decided.extend(self.call_started(key)),
            Fact::JobFinished { key, end } => {
                let ended = self.call_ended(key, end, stored.at_ms);
                if let Some(ended) = ended {
                    decided.insert(0, ended);
                }
            }
            Fact::Stopping { .. } => decided.push(EventKind::Stopping),
            Fact::Ended { .. } => decided.extend(self.run().and_then(|run| self.run_ended(run))),
            _ => {}
        }
        for kind in decided {
            events.send(stored.at_ms, kind);
        }
        Ok(())
    }

    fn run_started(&self, fact: &Fact) -> EventKind {
        EventKind::RunStarted {
            run: self.row.id.clone(),
            recipe: self.row.recipe.clone(),
            directory: self.row.directory.clone(),
            resumed: *fact == Fact::Resumed,
            steps: self.run().map(Run::view).unwrap_or_default(),
        }
    }

    fn call_started(&self, key: &JobKey) -> Option<EventKind> {
        let call = self.jobs[self.job(key)?].call.as_ref()?;
        Some(EventKind::CallStarted(call.started.clone()))
    }

    fn call_ended(&self, key: &JobKey, end: &JobEnd, at_ms: i64) -> Option<EventKind> {
        let call = self.jobs[self.job(key)?].call.as_ref()?;
        let took = Duration::from_millis((at_ms - call.started_ms).max(0).unsigned_abs());
        let session = self.sessions.of(key);
        Some(EventKind::CallEnded(call_ended(&call.started, call.timeout, session, end, took)))
    }

    fn run_ended(&self, run: &Run) -> Option<EventKind> {
        let (id, outcome) = (self.row.id.clone(), run.outcome()?);
        Some(EventKind::RunEnded { run: id, outcome, steps: run.view() })
    }
}

/// An agent's answer comes as its step's stdout.
fn answer(key: &JobKey, end: &JobEnd) -> Option<EventKind> {
    let answer = end.output.text().filter(|answer| !answer.is_empty())?;
    (key.kind == JobKind::Agent).then(|| EventKind::Output {
        step: key.step_path(),
        job: key.clone(),
        stream: Stream::Stdout,
        bytes: format!("{answer}\n").into_bytes(),
    })
}

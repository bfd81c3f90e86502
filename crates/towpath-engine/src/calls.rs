//! Calls of agents, as the loop makes them: which session a call goes on with, which model it gets,
//! and what is told of it. It starts no process, and knows no program.

use crate::agents::{Prepared, new_session};
use crate::driver::{Driver, Launch};
use crate::error::EngineError;
use crate::event::{CallEnded, CallStarted, Event};
use crate::files::Files;
use crate::live::{Asking, Live};
use std::time::Duration;
use towpath_agent::SessionIds;
use towpath_core::JobKey;
use towpath_run::{AgentJob, Fact, Job, JobEnd, JobStatus};

/// What is recorded of a call before it starts.
#[derive(Default)]
pub(crate) struct Calling {
    /// `None` where an adapter answers.
    pub prepared: Option<Prepared>,
    /// The line of a script that answers.
    pub line: Option<u32>,
    pub session: Option<String>,
}

impl Driver<'_> {
    /// Chooses who answers a call and in which session, or says why nobody does.
    pub(crate) fn calling(
        &mut self,
        job: &Job,
        agent: &AgentJob,
    ) -> Result<Result<Calling, Box<JobEnd>>, EngineError> {
        let earlier = self.sessions.continued(agent);
        if self.config.adapter.is_some() {
            let id = earlier.unwrap_or_else(new_session);
            self.sessions.opened(&job.key, &id);
            return Ok(Ok(Calling { session: Some(id), ..Calling::default() }));
        }
        let directory = self.directory_of(job);
        let mut prepared =
            match self.lines.prepare(&mut self.config.agents, job, &directory, earlier) {
                Ok(prepared) => prepared,
                Err(end) => return Ok(Err(end)),
            };
        self.choose_model(job, &agent.models_before, &mut prepared);
        let session = prepared.known_session().map(str::to_owned);
        match &session {
            Some(id) => {
                self.sessions.opened(&job.key, id);
                if agent.keeps_session {
                    self.sessions.hold(&job.key, id)?;
                }
            }
            // Another session begins, whose name its program will tell.
            None if agent.keeps_session => self.sessions.release(&job.key),
            None => {}
        }
        Ok(Ok(Calling { line: prepared.line, session, prepared: Some(prepared) }))
    }

    /// Gives a call the model that the backend knows by the step's name for it.
    fn choose_model(&mut self, job: &Job, before: &[String], prepared: &mut Prepared) {
        let name = prepared.call.model.take();
        let choice = self.config.models.choose(prepared.backend.row(), name, before);
        prepared.call.model = choice.model;
        if let Some(message) = choice.warning {
            let step = job.key.step_path();
            self.warnings.push(format!("{step}: {message}"));
            self.reporter.event(&Event::Warning { step: Some(&step), message: &message });
        }
    }

    /// An agent's program has named the session of a call.
    pub(crate) fn named(&mut self, key: &JobKey, session: String) -> Result<(), EngineError> {
        if self.sessions.of(key).as_ref() == Some(&session) {
            return Ok(());
        }
        self.sessions.opened(key, &session);
        let holds = |live: &Live| live.key == *key && live.keeps_session();
        if self.live.values().any(holds) {
            self.sessions.hold(key, &session)?;
        }
        self.apply(Fact::SessionOpened { key: key.clone(), session })
    }

    pub(crate) fn tell_call(&mut self, job: &Job, prepared: &Prepared) {
        let call = &prepared.call;
        self.reporter.event(&Event::CallStarted(CallStarted {
            step: &job.key.step_path(),
            backend: prepared.backend.id(),
            session: prepared.known_session(),
            resumes: call.resume,
            model: call.model.as_deref(),
            is_reminder: job.key.call > 0,
            length: call.prompt.chars().count(),
        }));
    }

    pub(crate) fn tell_answer(&mut self, asking: &Asking, end: &JobEnd) {
        let step = asking.job.key.step_path();
        let session = self.sessions.of(&asking.job.key);
        let silent = end.silent_ms.map(Duration::from_millis);
        // Our own signal ended it: what that did to the process explains nothing.
        let error = match (&end.status, silent, asking.job.timeout) {
            (JobStatus::TimedOut, Some(silent), _) => {
                format!("timed out: it printed nothing for {} s", silent.as_secs_f64())
            }
            (JobStatus::TimedOut, None, Some(limit)) => {
                format!("timed out after {} s", limit.as_secs_f64())
            }
            (JobStatus::Stopped, ..) if end.error.is_empty() => "stopped".to_owned(),
            _ => end.error.clone(),
        };
        let length = end.succeeded().then(|| end.output.text().unwrap_or_default().chars().count());
        self.reporter.event(&Event::CallEnded(CallEnded {
            step: &step,
            session: session.as_deref(),
            model: asking.prepared.call.model.as_deref(),
            is_reminder: asking.job.key.call > 0,
            prompt_length: asking.prepared.call.prompt.chars().count(),
            length,
            error: (!end.succeeded()).then_some(error.as_str()),
            took_ms: asking.began.elapsed().as_millis() as u64,
            usage: end.usage,
        }));
    }

    /// The session that a call was to go on with is not there: the call opens it, and that pair is
    /// one attempt, also for who looks on.
    pub(crate) fn open_session(&mut self, asking: Asking) -> Result<(), EngineError> {
        let Asking { id, job, mut prepared, .. } = asking;
        prepared.call.resume = false;
        prepared.may_open = false;
        if prepared.backend.row().can.session_ids == SessionIds::ChosenOnce {
            // The old id is taken although nothing is there. The program names the new one.
            prepared.call.session = Some(new_session());
        }
        // What the first of the two said is told in the answer's place by the second.
        Files::new(&self.directory, id as u32, &self.config.secrets).forget_outputs();
        self.start(Launch { id, job, agent: Some(prepared), session: None })
    }
}

//! Calls of agents, as the loop makes them: which session a call continues, which model it gets, and
//! what is reported of it. It starts no process, and knows no program.

use crate::error::EngineError;
use crate::models::Models;
use crate::script_lines::ScriptLines;
use crate::sessions::Sessions;
use std::time::{Duration, Instant};
use towpath_core::{FaultKind, JobKey, SessionId};
use towpath_executor::{AgentWork, BackendRow, Call, Responder, SessionIds, new_session};
use towpath_run::{AgentJob, CallEnded, CallStarted, Fact, Fault, JobEnd, JobStatus};

pub(crate) struct Calls {
    pub script: ScriptLines,
    pub sessions: Sessions,
    pub models: Models,
}

/// A call that is about to be recorded and started.
pub(crate) struct PlannedCall {
    pub work: AgentWork,
    /// The start of its job.
    pub fact: Fact,
    /// `None` where an adapter answers.
    pub started: Option<StartedCall>,
    pub warning: Option<String>,
}

/// A call that was started and whose end is not known yet.
#[derive(Debug)]
pub(crate) struct StartedCall {
    pub started: CallStarted,
    timeout: Option<Duration>,
    /// Later calls continue its session, so that nobody else may be in it.
    pub keeps_session: bool,
    began: Instant,
}

impl Calls {
    /// Decides in which session a call is answered, or how it ends because nobody can answer it.
    pub fn plan(
        &mut self,
        key: &JobKey,
        agent: AgentJob,
        timeout: Option<Duration>,
        responder: Responder,
    ) -> Result<Result<PlannedCall, Box<JobEnd>>, EngineError> {
        let earlier = self.sessions.continued(&agent);
        let (before, keeps_session) = (agent.models_before.clone(), agent.keeps_session);
        let opens = agent.opens.clone();
        let mut work = agent_work(agent, earlier);
        let row = match responder {
            Responder::Nobody => return Ok(Err(fault("no agent backend was chosen".into()))),
            Responder::Adapter => return Ok(Ok(self.for_adapter(key, work))),
            Responder::Backend(row) => row,
        };
        if let Some(id) = opens.filter(|id| !work.call.resume && row.can.takes_session(id)) {
            work.call.session = Some(id);
        }
        mode_as_text(row, &mut work.call);
        match self.script.take(key, &work.call.prompt)? {
            Err(exhausted) => return Ok(Err(fault(exhausted))),
            Ok(answer) => work.scripted = answer,
        }
        let choice = self.models.choose(row, work.call.model.take(), &before);
        work.call.model = choice.model;
        let session = known_session(row, &work.call);
        self.enter(key, session.as_ref(), keeps_session)?;
        let fact = Fact::JobStarted {
            key: key.clone(),
            line: work.scripted.as_ref().map(|answer| answer.number),
            session: session.clone(),
            backend: Some(row.id.to_owned()),
            model: work.call.model.clone(),
        };
        let started = CallStarted {
            step: key.step_path(),
            backend: row.id.to_owned(),
            session,
            resumes: work.call.resume,
            model: work.call.model.clone(),
            is_reminder: key.call > 0,
            length: work.call.prompt.chars().count(),
        };
        let started = StartedCall { started, timeout, keeps_session, began: Instant::now() };
        Ok(Ok(PlannedCall { work, fact, started: Some(started), warning: choice.warning }))
    }

    fn for_adapter(&mut self, key: &JobKey, work: AgentWork) -> PlannedCall {
        let session = work.call.session.clone();
        if let Some(id) = &session {
            self.sessions.opened(key, id);
        }
        let (key, line, backend, model) = (key.clone(), None, None, None);
        let fact = Fact::JobStarted { key, line, session, backend, model };
        PlannedCall { work, fact, started: None, warning: None }
    }

    /// Notes the session of a call, and keeps others out of it where later calls continue it.
    fn enter(
        &mut self,
        key: &JobKey,
        session: Option<&SessionId>,
        keeps: bool,
    ) -> Result<(), EngineError> {
        match session {
            Some(id) => {
                self.sessions.opened(key, id);
                if keeps {
                    self.sessions.lock(key, id)?;
                }
            }
            // Another session begins, whose name its program will report.
            None if keeps => self.sessions.release(key),
            None => {}
        }
        Ok(())
    }

    /// An agent's program has named the session of a call; false where that was known.
    pub fn named(
        &mut self,
        key: &JobKey,
        session: &SessionId,
        keeps: bool,
    ) -> Result<bool, EngineError> {
        if self.sessions.of(key).as_ref() == Some(session) {
            return Ok(false);
        }
        self.enter(key, Some(session), keeps)?;
        Ok(true)
    }

    /// What is reported of a call that has ended.
    pub fn ended(&self, key: &JobKey, call: &StartedCall, end: &JobEnd) -> CallEnded {
        let (session, took) = (self.sessions.of(key), call.began.elapsed());
        call_ended(&call.started, call.timeout, session, end, took)
    }
}

/// What is reported of a call's end, by its owner and by whoever follows the run.
pub(crate) fn call_ended(
    started: &CallStarted,
    timeout: Option<Duration>,
    session: Option<SessionId>,
    end: &JobEnd,
    took: Duration,
) -> CallEnded {
    let silent = end.silent_ms.map(Duration::from_millis);
    // Our own signal ended it: what that did to the process explains nothing.
    let error = || match (&end.status, silent, timeout) {
        (JobStatus::TimedOut, Some(silent), _) => {
            format!("timed out: it printed nothing for {} s", silent.as_secs_f64())
        }
        (JobStatus::TimedOut, None, Some(timeout)) => {
            format!("timed out after {} s", timeout.as_secs_f64())
        }
        (JobStatus::Stopped, ..) if end.error.is_empty() => "stopped".to_owned(),
        _ => end.error.clone(),
    };
    CallEnded {
        step: started.step.clone(),
        session,
        model: started.model.clone(),
        is_reminder: started.is_reminder,
        prompt_length: started.length,
        length: end.succeeded().then(|| end.output.text().unwrap_or_default().chars().count()),
        error: (!end.succeeded()).then(error),
        took_ms: took.as_millis() as u64,
        usage: end.usage,
    }
}

fn agent_work(agent: AgentJob, earlier: Option<SessionId>) -> AgentWork {
    AgentWork {
        call: Call {
            prompt: agent.prompt,
            model: agent.model,
            resume: earlier.is_some(),
            session: Some(earlier.unwrap_or_else(new_session)),
            system: agent.system,
            appends_system: agent.appends_system,
            mode: agent.mode,
            ..Call::default()
        },
        may_open_session: agent.may_open_session,
        scripted: None,
        agent: agent.agent,
        earlier: agent.earlier,
    }
}

/// A mode that the backend does not have is for the agent to read.
fn mode_as_text(row: &BackendRow, call: &mut Call) {
    if let Some(mode) = call.mode.take_if(|mode| !row.can.has_mode(mode)) {
        call.prompt = format!("Mode: {mode}\n\n{}", call.prompt);
    }
}

/// The session as far as it is known before the call.
fn known_session(row: &BackendRow, call: &Call) -> Option<SessionId> {
    let chosen = row.can.session_ids == SessionIds::Chosen;
    call.session.clone().filter(|_| chosen || call.resume)
}

fn fault(message: String) -> Box<JobEnd> {
    let fault = Fault { kind: FaultKind::Backend, until_ms: None };
    Box::new(JobEnd { error: message, ..JobEnd::new(JobStatus::Faulted(fault)) })
}

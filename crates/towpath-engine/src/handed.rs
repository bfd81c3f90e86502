//! Jobs that an adapter takes. Each is handed to a thread and comes back to the loop as a message,
//! recorded like any other end. The loop never waits for an adapter: at a deadline or a stop the job
//! ends at once, and an answer that comes later finds nobody.

use crate::adapter::{Abandoned, Adapter, AdapterError, AgentCall, BashCall};
use crate::driver::{Driver, Launch, Message};
use crate::error::EngineError;
use crate::files::Files;
use crate::live::{Asked, Live};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use towpath_core::JobKind;
use towpath_process::ExitStatus;
use towpath_run::{Job, JobWork};

/// What an adapter has said. `None`: the engine shall run the command.
pub(crate) type Answer = Option<Result<String, AdapterError>>;

/// The part of a job in flight that only an adapter's has.
pub(crate) struct Handed {
    job: Job,
    abandoned: Abandoned,
}

enum Call {
    Agent(AgentCall),
    Bash(BashCall),
}

impl Call {
    fn make(&self, adapter: &dyn Adapter) -> Answer {
        let made = catch_unwind(AssertUnwindSafe(|| match self {
            Call::Agent(call) => Some(adapter.execute_agent_step(call)),
            Call::Bash(call) => adapter.execute_bash_step(call),
        }));
        made.unwrap_or_else(|panic| {
            let message = format!("{} panicked: {}", adapter.name(), said(&*panic));
            Some(Err(AdapterError::new(message)))
        })
    }
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it did not say why")
}

impl Driver<'_> {
    /// Gives a job to the adapter, or back to the caller where no adapter is asked about it.
    pub(crate) fn hand_over(&mut self, launch: Launch) -> Result<Option<Launch>, EngineError> {
        let Some(adapter) = self.config.adapter.clone() else { return Ok(Some(launch)) };
        let own = matches!(launch.job.key.kind, JobKind::Snapshot | JobKind::Stage);
        if own || self.config.substitutes.of(&launch.job.key).is_some() {
            return Ok(Some(launch));
        }
        let Launch { id, job, session, .. } = launch;
        let abandoned = Abandoned::default();
        let call = self.call(&job, session.unwrap_or_default(), abandoned.clone());
        let files = Files::new(&self.directory, id as u32, &self.config.secrets);
        let mut live = Live::new(job.key.clone(), files, job.timeout, None);
        live.handed = Some(Handed { job, abandoned });
        self.live.insert(id, live);
        let sender = self.sender.clone();
        let work = move || {
            let answer = call.make(&*adapter);
            // A run that is over, or has abandoned the call, needs no answer.
            let _ = sender.send(Message::Answered { id, answer });
        };
        let thread = std::thread::Builder::new().name(format!("adapter {id}")).spawn(work);
        if let Err(error) = thread {
            self.answered(id, Some(Err(error.into())))?;
        }
        Ok(None)
    }

    fn call(&self, job: &Job, session: String, abandoned: Abandoned) -> Call {
        let step = job.key.step_path().to_string();
        let working_dir = self.directory_of(job);
        let timeout = job.timeout;
        match &job.work {
            JobWork::Agent(agent) => Call::Agent(AgentCall {
                step,
                prompt: agent.prompt.clone(),
                agent: agent.agent.clone(),
                system_prompt: agent.system.clone(),
                mode: agent.mode.clone(),
                model: agent.model.clone(),
                working_dir,
                timeout,
                session,
                earlier: agent.earlier.clone(),
                abandoned,
            }),
            JobWork::Bash(filled) => Call::Bash(BashCall {
                step,
                command: filled.command_with_values(),
                working_dir,
                timeout,
                environment: job.environment.clone(),
                hook: job.key.kind.is_hook(),
                abandoned,
            }),
        }
    }

    /// Takes what an adapter has said, if anybody still waits for it.
    pub(crate) fn answered(&mut self, id: u64, answer: Answer) -> Result<(), EngineError> {
        let Some(mut live) = self.live.remove(&id) else { return Ok(()) };
        match (answer, live.handed.take()) {
            (Some(result), _) => {
                let status = live.told(result)?;
                self.ended(live, status, Vec::new())
            }
            (None, Some(handed)) => {
                self.start(Launch { id, job: handed.job, agent: None, session: None })
            }
            (None, None) => Ok(()),
        }
    }

    /// Ends a job whose call may never return.
    pub(crate) fn abandon(&mut self, id: u64, asked: Asked) -> Result<(), EngineError> {
        let Some(mut live) = self.live.remove(&id) else { return Ok(()) };
        if let Some(handed) = live.handed.take() {
            handed.abandoned.set();
        }
        live.asked = Some(asked);
        self.ended(live, ExitStatus { code: None, signal: None }, Vec::new())
    }
}

/// Nothing of a run is started with an adapter that cannot work.
pub(crate) fn refuse_unavailable(adapter: Option<&Arc<dyn Adapter>>) -> Result<(), EngineError> {
    match adapter.filter(|adapter| !adapter.is_available()) {
        Some(adapter) => Err(EngineError::Unavailable { adapter: adapter.name().to_owned() }),
        None => Ok(()),
    }
}

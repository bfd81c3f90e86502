//! Agent calls: which backend answers, what a call is started with, and what a scripted agent has
//! already said.

use crate::error::EngineError;
use crate::journal::io_error;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_agent::{Backend, Call, Script, Scripted, SessionIds};
use towpath_core::{FaultKind, JobKey, Secrets};
use towpath_run::{Fact, Fault, Job, JobEnd, JobStatus, JobWork};

/// Who answers agent steps.
#[derive(Debug)]
pub enum Agents {
    /// Answers from a file, for tests and demonstrations.
    Scripted {
        script: Script,
        calls: Option<PathBuf>,
        bash: PathBuf,
        /// It takes the place of another script that the run began with.
        fresh: bool,
    },
    Program {
        backend: Arc<dyn Backend>,
        calls: Option<PathBuf>,
    },
    /// The plan has no agent step, or a check before the run would have said why there is none.
    None,
}

/// A new session's id.
pub fn new_session() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The variables by which nested agents know how deep they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTree {
    pub depth: u32,
    pub max_depth: u32,
    pub max_sessions: u32,
    pub id: String,
}

impl SessionTree {
    /// What an agent's child environment gets.
    pub fn for_child(&self) -> Vec<(OsString, OsString)> {
        [
            ("AMPLIHACK_SESSION_DEPTH", (self.depth + 1).to_string()),
            ("AMPLIHACK_MAX_DEPTH", self.max_depth.to_string()),
            ("AMPLIHACK_MAX_SESSIONS", self.max_sessions.to_string()),
            ("AMPLIHACK_TREE_ID", self.id.clone()),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
    }
}

/// An agent call that is about to be recorded and started.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub backend: Arc<dyn Backend>,
    pub call: Call,
    pub line: Option<u32>,
    /// The session may not exist; then this call opens it.
    pub may_open: bool,
}

impl Prepared {
    /// The session as far as it is known before the call.
    pub fn known_session(&self) -> Option<&str> {
        let chosen = self.backend.row().can.session_ids == SessionIds::Chosen;
        self.call.session.as_deref().filter(|_| chosen || self.call.resume)
    }
}

/// Keeps track of which scripted lines belong to which calls.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The line of each call that was started and not finished, by its key without the attempt.
    open: BTreeMap<String, u32>,
}

impl Lines {
    /// Reads from the record which lines are used, and which belong to interrupted calls.
    /// A script that took the place of another has no line that was used.
    pub fn replay(&mut self, agents: &mut Agents, facts: &[(Fact, i64)]) {
        let fresh = matches!(agents, Agents::Scripted { fresh: true, .. });
        for (fact, _) in facts {
            match fact {
                Fact::JobStarted { line: Some(_), .. } if fresh => {}
                Fact::JobStarted { key, line: Some(line), .. } => {
                    if let Agents::Scripted { script, .. } = agents {
                        script.mark_used(*line);
                    }
                    self.open.insert(call_of(key), *line);
                }
                Fact::JobFinished { key, end } if end.status != JobStatus::Stopped => {
                    self.open.remove(&call_of(key));
                }
                _ => {}
            }
        }
    }

    pub fn finished(&mut self, key: &JobKey, end: &JobEnd) {
        if end.status != JobStatus::Stopped {
            self.open.remove(&call_of(key));
        }
    }

    /// The line of a call that was cut off: of the same call, or of the reminder after it, where the
    /// step is asked anew from its beginning.
    fn cut_off(&mut self, key: &JobKey) -> Option<u32> {
        let reminder = call_of(&JobKey { call: 1, ..key.clone() });
        let of_reminder = (key.call == 0).then(|| self.open.remove(&reminder)).flatten();
        self.open.get(&call_of(key)).copied().or(of_reminder)
    }

    /// Chooses who answers a job, before it is recorded as started.
    pub fn prepare(
        &mut self,
        agents: &mut Agents,
        job: &Job,
        directory: &Path,
        earlier: Option<String>,
    ) -> Result<Prepared, Box<JobEnd>> {
        let JobWork::Agent(agent) = &job.work else {
            return Err(fault("not an agent job".into()));
        };
        let call = Call {
            prompt: agent.prompt.clone(),
            model: agent.model.clone(),
            resume: earlier.is_some(),
            session: Some(earlier.unwrap_or_else(new_session)),
            directory: directory.to_owned(),
            system: agent.system.clone(),
            beside_own: agent.beside_own,
            mode: agent.mode.clone(),
            // Known when the call is started.
            private: PathBuf::new(),
        };
        let may_open = agent.may_open;
        match agents {
            Agents::None => Err(fault("no agent backend was chosen".into())),
            Agents::Program { backend, .. } => {
                Ok(Prepared { backend: Arc::clone(backend), call, line: None, may_open })
            }
            Agents::Scripted { script, bash, .. } => {
                let cut_off = self.cut_off(&job.key);
                let line = cut_off.or_else(|| script.take(&job.key.step_path(), &agent.prompt));
                let Some(line) = line else {
                    return Err(fault(script.exhausted(&job.key.step_path()).message));
                };
                self.open.insert(call_of(&job.key), line);
                let answer = script.line(line).clone();
                let backend = Scripted { line: answer, bash: bash.clone() };
                Ok(Prepared { backend: Arc::new(backend), call, line: Some(line), may_open })
            }
        }
    }
}

fn fault(message: String) -> Box<JobEnd> {
    let fault = Fault { kind: FaultKind::Backend, until_ms: None };
    Box::new(JobEnd { error: message, ..JobEnd::new(JobStatus::Faulted(fault)) })
}

fn call_of(key: &JobKey) -> String {
    JobKey { attempt: 0, ..key.clone() }.to_string()
}

impl Agents {
    /// For who asks, before a plan with agents starts, whether there is one.
    pub fn is_none(&self) -> bool {
        matches!(self, Agents::None)
    }

    fn calls(&self) -> Option<&Path> {
        match self {
            Agents::Scripted { calls, .. } | Agents::Program { calls, .. } => calls.as_deref(),
            Agents::None => None,
        }
    }

    /// Lines of the script that no call has taken.
    pub fn unused(&self) -> Vec<u32> {
        match self {
            Agents::Scripted { script, .. } => script.unused(),
            _ => Vec::new(),
        }
    }

    /// Notes a call in the file that `--calls` names.
    pub(crate) fn note(
        &self,
        job: &Job,
        prepared: &Prepared,
        secrets: &Secrets,
    ) -> Result<(), EngineError> {
        let Some(path) = self.calls() else { return Ok(()) };
        let call = &prepared.call;
        let mut note = serde_json::json!({
            "step": job.key.step_path().as_str(),
            "kind": if job.key.call > 0 { "reminder" } else { "prompt" },
            "session": call.session,
            "how": if call.resume { "resume" } else { "new" },
            "model": call.model,
            "mode": call.mode,
            "system": call.system,
            "working_dir": call.directory.display().to_string(),
            "prompt": call.prompt,
        });
        if let Some(line) = prepared.line {
            note["line"] = line.into();
        }
        secrets.mask_value(&mut note);
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).mode(0o600).open(path);
        file.and_then(|mut f| f.write_all(format!("{note}\n").as_bytes())).map_err(io_error(path))
    }
}

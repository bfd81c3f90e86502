//! Jobs: the effects a run wants. A job is plain data and carries its filled script or prompt, so
//! that its executor needs nothing else.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use towpath_core::{JobKey, SessionId};
use towpath_recipe::AgentWork;
use towpath_shell::{FailFast, Filled};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub key: JobKey,
    pub work: JobWork,
    /// Relative to the run's directory, or absolute.
    pub directory: String,
    pub timeout: Option<Duration>,
    /// Variables for this job only.
    pub environment: Vec<(String, String)>,
    /// It runs in a sandbox, or not at all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sandboxed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum JobWork {
    Bash(Filled),
    Agent(Box<AgentJob>),
}

impl Job {
    /// A job without variables of its own, outside of a sandbox.
    pub(crate) fn new(
        key: JobKey,
        work: JobWork,
        directory: String,
        timeout: Option<Duration>,
    ) -> Job {
        Job { key, work, directory, timeout, environment: Vec::new(), sandboxed: false }
    }
}

impl JobWork {
    /// A command that these failures end.
    pub(crate) fn failing(self, on: FailFast) -> JobWork {
        match self {
            JobWork::Bash(filled) => JobWork::Bash(filled.failing(on)),
            agent => agent,
        }
    }
}

/// One agent call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentJob {
    pub prompt: String,
    pub model: Option<String>,
    pub mode: Option<String>,
    /// The agent definition whose instructions it gets, as the step names it.
    #[serde(default)]
    pub agent: Option<String>,
    /// Instructions above the prompt.
    pub system: Option<String>,
    /// They are added to the program's own instead of replacing them.
    #[serde(default, rename = "beside_own", skip_serializing_if = "std::ops::Not::not")]
    pub appends_system: bool,
    /// The models of earlier calls of its session, of which the session may keep the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models_before: Vec<String>,
    /// The call whose session this one continues.
    pub continues: Option<JobKey>,
    /// That call never succeeded, so that its session may not exist: then it is opened.
    #[serde(default, rename = "may_open", skip_serializing_if = "std::ops::Not::not")]
    pub may_open_session: bool,
    /// Later calls continue its session, so that no other process may use it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_session: bool,
    /// A session that was opened outside the run, to be continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The id for a session that this call opens, where its program takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<SessionId>,
    /// The answer of that call, for backends without sessions.
    #[serde(default)]
    pub earlier: Option<String>,
}

impl AgentJob {
    /// A call with what a step states for its agent.
    pub(crate) fn of_step(agent: &AgentWork, prompt: String) -> AgentJob {
        AgentJob {
            prompt,
            model: agent.model.clone(),
            mode: agent.mode.as_ref().map(|mode| mode.name.clone()),
            agent: agent.agent.as_ref().map(|agent| agent.name.clone()),
            ..AgentJob::default()
        }
    }
}

/// What every agent prompt ends with: no user is there to answer a question.
pub const NON_INTERACTIVE_FOOTER: &str = "Proceed autonomously. Do not ask questions.";

/// Sent in the same session when an answer that must contain JSON does not.
pub const JSON_REMINDER: &str = "Your last answer contains no valid JSON. Answer again with the same \
    content as JSON only: one JSON value, no explanation before or after it, no code fence.";

/// Git that hangs must not hang the run.
pub const GIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Hooks that hang must not hang the run.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(30);

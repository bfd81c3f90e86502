//! One job to start, as plain data: everything that whoever runs it needs, beside what the executor of
//! the run was given once.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use towpath_agent::{Call, ScriptLine};
use towpath_core::{JobKey, SessionId};
use towpath_process::Sandbox;
use towpath_shell::Filled;

/// The number of a job within its run: that of the fact by which its start was recorded. Its files are
/// named after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u32);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSpec {
    pub id: JobId,
    pub key: JobKey,
    pub work: Work,
    /// Absolute.
    #[serde(with = "towpath_core::os_text")]
    pub directory: PathBuf,
    pub timeout: Option<Duration>,
    /// How long it may print nothing.
    pub idle_timeout: Option<Duration>,
    /// Variables for this job only.
    pub environment: Vec<(String, String)>,
    /// What its processes may reach, beside the files that it is started with. A command that has one is
    /// run by the engine itself: no adapter is asked about it.
    #[serde(default, skip_serializing_if = "Sandbox::is_none")]
    pub sandbox: Sandbox,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    Script {
        script: Filled,
        /// It replaces the step's own command, so that no adapter is asked about it.
        substitute: bool,
    },
    Agent(Box<AgentWork>),
}

/// One agent call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentWork {
    /// What is asked, in which session, of which model. Its directories are set by the executor.
    pub call: Call,
    /// The session to continue may not exist; then this call opens it.
    pub may_open_session: bool,
    /// The script's line that answers, where a script does.
    pub scripted: Option<ScriptedAnswer>,
    /// The agent whose instructions it gets, as the step names it.
    pub agent: Option<String>,
    /// What the session's last call was answered with, for whoever keeps no sessions.
    pub earlier: Option<String>,
}

/// A line of a script, and its number there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScriptedAnswer {
    pub number: u32,
    pub line: ScriptLine,
}

/// A new session's id.
pub fn new_session() -> SessionId {
    SessionId::new(uuid::Uuid::new_v4().to_string())
}

//! The way to bring one's own backend: an [`Adapter`] answers agent steps, and may run commands, in
//! the process of whoever embeds the engine. It is asked and answers; what runs next, what is
//! recorded and what a failure means is decided by the engine. How its calls are made is in
//! `adapter_executor.rs`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use towpath_core::{FaultKind, SessionId};

/// Answers the agent steps of a run, and runs its commands where it wants to.
///
/// Each call is made on a thread of its own; several may be under way at once. A call that does not
/// return is **abandoned** when its step's `timeout` is over or the run is stopped: the step ends
/// then, its thread lives until the call returns, and what it returns is dropped. So give steps a
/// `timeout`, and let calls that take long look at [`AgentCall::is_abandoned`]. A call that panics
/// has failed; a run that is killed repeats the interrupted call when it is resumed, unless its step
/// is marked `effect: once`.
pub trait Adapter: Send + Sync {
    /// Its name in messages and in the record.
    fn name(&self) -> &str;

    /// Whether it can work. If not, nothing of a run is started or recorded.
    fn is_available(&self) -> bool {
        true
    }

    /// Asks an agent. What is returned is the step's output.
    fn execute_agent_step(&self, call: &AgentCall) -> Result<String, AdapterError>;

    /// Runs a command. What is returned is what it printed; [`AdapterError::exit`] is how it failed.
    /// `None`: the engine runs it, with the real bash, and the run guards its processes. Processes
    /// that an adapter starts are its own to end.
    fn execute_bash_step(&self, call: &BashCall) -> Option<Result<String, AdapterError>> {
        let _ = call;
        None
    }
}

impl std::fmt::Debug for dyn Adapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Adapter({})", self.name())
    }
}

/// One question to an agent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AgentCall {
    /// The path of the step, as `build` or `ci/build`.
    pub step: String,
    /// Rendered. Its last line asks the agent not to ask questions.
    pub prompt: String,
    /// What the step's `agent` names.
    pub agent: Option<String>,
    /// The instructions of that agent.
    pub system_prompt: Option<String>,
    pub mode: Option<String>,
    pub model: Option<String>,
    /// Absolute.
    pub working_dir: PathBuf,
    /// How long the call is waited for.
    pub timeout: Option<Duration>,
    /// The conversation that the call belongs to. It is recorded: the same one after a resume.
    pub session: SessionId,
    /// The call continues its session, and this was the last answer there: it contained no JSON where
    /// JSON was required.
    pub earlier: Option<String>,
    pub(crate) abandoned: Abandoned,
}

impl AgentCall {
    /// A call with this prompt and nothing else, for trying an adapter.
    pub fn new(prompt: impl Into<String>) -> AgentCall {
        AgentCall { prompt: prompt.into(), ..AgentCall::default() }
    }

    /// The prompt for an adapter that keeps no sessions: with the earlier answer before it, if there is one.
    pub fn whole_prompt(&self) -> String {
        match &self.earlier {
            None => self.prompt.clone(),
            Some(answer) => format!("You have answered:\n\n{answer}\n\n{}", self.prompt),
        }
    }

    /// Whether the run no longer waits for this call.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.is_set()
    }
}

/// One command to run: a step's, or a hook's. Staging files in git is neither.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct BashCall {
    pub step: String,
    /// Bash text that needs nothing else: it contains values as quoted words, never as code.
    pub command: String,
    /// Absolute.
    pub working_dir: PathBuf,
    /// How long the call is waited for.
    pub timeout: Option<Duration>,
    /// Variables for this command only.
    pub environment: Vec<(String, String)>,
    /// It is a hook of the step, not its own command.
    pub hook: bool,
    pub(crate) abandoned: Abandoned,
}

impl BashCall {
    /// A call with this command and nothing else, for trying an adapter.
    pub fn new(command: impl Into<String>) -> BashCall {
        BashCall { command: command.into(), ..BashCall::default() }
    }

    /// Whether the run no longer waits for this call.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.is_set()
    }
}

/// Set once, by the executor; seen by the call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Why an adapter's call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct AdapterError {
    pub message: String,
    /// What it means for the run, where an agent was asked: [`FaultKind::Limit`] lets it wait to be
    /// resumed, [`FaultKind::Auth`] ends it despite `continue_on_error`.
    pub kind: FaultKind,
    /// With [`FaultKind::Limit`]: when to try again, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// The exit code of a command.
    pub exit_code: i32,
}

impl AdapterError {
    /// The agent, or its replacement, has failed.
    pub fn new(message: impl Into<String>) -> AdapterError {
        AdapterError::of(FaultKind::Crash, message)
    }

    pub fn of(kind: FaultKind, message: impl Into<String>) -> AdapterError {
        AdapterError { message: message.into(), kind, until_ms: None, exit_code: 1 }
    }

    /// A command ended with this code and printed this on stderr. A code of 0 counts as 1.
    pub fn exit(code: i32, stderr: impl Into<String>) -> AdapterError {
        AdapterError { exit_code: if code == 0 { 1 } else { code }, ..AdapterError::new(stderr) }
    }

    /// A rate limit that ends at this time, in milliseconds since 1970.
    pub fn limit_until(until_ms: i64, message: impl Into<String>) -> AdapterError {
        AdapterError { until_ms: Some(until_ms), ..AdapterError::of(FaultKind::Limit, message) }
    }
}

impl From<std::io::Error> for AdapterError {
    fn from(error: std::io::Error) -> AdapterError {
        AdapterError::new(error.to_string())
    }
}

impl From<String> for AdapterError {
    fn from(message: String) -> AdapterError {
        AdapterError::new(message)
    }
}

impl From<&str> for AdapterError {
    fn from(message: &str) -> AdapterError {
        AdapterError::new(message)
    }
}

//! What ends a run from outside its recipe. How a recipe's own steps fail is an outcome, not an
//! error. Hints that name a flag or a command are added by the program that has them.

use crate::required_programs::UnmetRequirements;
use std::path::{Path, PathBuf};
use towpath_core::{Diagnostic, RunId, SessionId, StepPath};
use towpath_executor::{ExecutorError, ProcessError, ScriptError};
use towpath_run::{EditRefused, Mismatch, NoSuchStep};
use towpath_store::StoreError;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Executor(ExecutorError),
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("run {run} is owned by {holder}")]
    Owned { run: RunId, holder: String },
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    #[error("the stored plan of this run cannot be read by this towpath")]
    Plan(Vec<Diagnostic>),
    #[error("the stored plan of this run cannot be read: {0}")]
    PlanText(String),
    #[error("fact {seq} of this run cannot be read by this towpath: {error}")]
    Fact { seq: u32, error: serde_json::Error },
    #[error(transparent)]
    NoSuchStep(#[from] NoSuchStep),
    #[error("{0}")]
    Answer(String),
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A state machine's step was declared done without its outcome.
    #[error("{step} is a machine's step: it ended with one of {}", .outcomes.join(", "))]
    OutcomeMissing { step: StepPath, outcomes: Vec<String> },
    #[error("the edited recipe cannot be used: {0}")]
    EditRefused(#[from] EditRefused),
    #[error("the warden that guards this run's processes is gone; nothing recorded is lost")]
    WardenGone,
    #[error(
        "{location} contains the value of {name}, and is stored with the run: write ${name} in the \
         command instead, and leave the value in the environment alone"
    )]
    SecretInPlan { name: String, location: String },
    #[error("run {run} masks the value of {name}, which was not given to this resume")]
    SecretMissing { run: RunId, name: String },
    #[error(transparent)]
    Unmet(#[from] UnmetRequirements),
    /// Steps that run in a sandbox or not at all; nothing was run.
    #[error("{} must run in a sandbox: {reason}", .steps.join(", "))]
    NoSandbox { steps: Vec<String>, reason: String },
    #[error("the adapter {adapter} reports that it is not available; nothing was run")]
    Unavailable { adapter: String },
    #[error("session locked: {session} is in use by {holder}")]
    SessionLocked { session: SessionId, holder: String },
    #[error("no random numbers: {0}")]
    Random(String),
}

impl From<ExecutorError> for EngineError {
    fn from(error: ExecutorError) -> EngineError {
        match error {
            ExecutorError::Process(error) => error.into(),
            ExecutorError::Io { path, error } => io_error(&path)(error),
            ExecutorError::Gone => EngineError::WardenGone,
            ExecutorError::NoBackend => EngineError::Executor(error),
        }
    }
}

/// The store's own error for a file of ours that cannot be written.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> EngineError + '_ {
    move |error| match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            EngineError::Store(StoreError::Full { path: path.to_owned() })
        }
        _ => EngineError::Io { path: path.to_owned(), error },
    }
}

//! The one table of exit codes.

use std::process::ExitCode;
use towpath_core::{Diagnostic, FaultKind};
use towpath_engine::EngineError;
use towpath_run::{FailureKind, RunOutcome, StopReason};
use towpath_store::StoreError;
use towpath_view::result_json::ResultError;

macro_rules! exit_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, severity $severity:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Exit {
            $($(#[$doc])* $name = $code,)*
        }

        impl Exit {
            const ALL: &[Exit] = &[$(Exit::$name),*];

            /// Of several runs the exit with the highest severity is the exit of all.
            pub fn severity(self) -> u8 {
                match self {
                    $(Exit::$name => $severity,)*
                }
            }
        }
    };
}

exit_codes! {
    Done = 0, severity 0;
    /// A step failed; recipes differ from their manifest.
    Failed = 1, severity 3;
    /// Bad recipe, bad usage, not found.
    BadInput = 2, severity 6;
    /// A guardrail or a recursion limit.
    Limit = 3, severity 4;
    /// An agent could not do its part.
    Agent = 4, severity 5;
    /// Configuration, a missing program, not trusted, owned by another process, state that cannot
    /// be used.
    Setup = 5, severity 7;
    /// The user must decide.
    Decide = 10, severity 2;
    /// Waiting for a rate limit: resume later.
    Waiting = 75, severity 1;
    Hangup = 129, severity 8;
    Interrupted = 130, severity 9;
    Terminated = 143, severity 10;
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    pub fn from_code(code: i32) -> Option<Exit> {
        Exit::ALL.iter().copied().find(|exit| *exit as i32 == code)
    }

    pub fn of_outcome(outcome: &RunOutcome) -> Exit {
        match outcome {
            RunOutcome::Done => Exit::Done,
            RunOutcome::Failed { failure, .. } => match failure.kind {
                FailureKind::Limit | FailureKind::Guardrail(_) => Exit::Limit,
                FailureKind::Agent(FaultKind::Limit) => Exit::Waiting,
                FailureKind::Agent(_) => Exit::Agent,
                _ => Exit::Failed,
            },
            RunOutcome::Waiting { .. } => Exit::Waiting,
            RunOutcome::Asking { .. } => Exit::Decide,
            RunOutcome::Stopped { reason: StopReason::Signal(signal) } => Exit::of_signal(*signal),
            RunOutcome::Stopped { .. } => Exit::Terminated,
        }
    }

    pub fn of_signal(signal: i32) -> Exit {
        match signal {
            libc::SIGHUP => Exit::Hangup,
            libc::SIGINT => Exit::Interrupted,
            _ => Exit::Terminated,
        }
    }
}

/// How a command ended, and whether its user wants errors as JSON too.
#[derive(Debug)]
pub struct Ended {
    pub result: Result<Exit, CommandError>,
    pub json: bool,
}

impl From<Result<Exit, CommandError>> for Ended {
    fn from(result: Result<Exit, CommandError>) -> Ended {
        Ended { result, json: false }
    }
}

macro_rules! error_kinds {
    ($($name:ident = $word:literal;)*) => {
        /// Why a command failed, for other programs: the words are stable.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ErrorKind {
            $($name,)*
        }

        impl ErrorKind {
            pub fn as_str(self) -> &'static str {
                match self {
                    $(ErrorKind::$name => $word,)*
                }
            }
        }
    };
}

error_kinds! {
    BackendCannot = "backend-cannot";
    BadInput = "bad-input";
    BadMode = "bad-mode";
    BadRecipe = "bad-recipe";
    Cancelled = "cancelled";
    InUse = "held";
    LeftWaiting = "left-waiting";
    Limit = "limit";
    MissingProgram = "missing-program";
    NoSandbox = "no-sandbox";
    NotAgreed = "not-agreed";
    NotFound = "not-found";
    NotTrusted = "not-trusted";
    NotVerified = "not-verified";
    Process = "process";
    Root = "root";
    SessionDepth = "session-depth";
    Settings = "settings";
    Setup = "setup";
    Source = "source";
    State = "state";
}

/// Why a command ended before or beside a run: reported once, with what to do next.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    pub exit: Exit,
    pub kind: ErrorKind,
    pub message: String,
    /// Already shown (diagnostics with carets), so that only the exit code is left.
    pub shown: bool,
    /// All that is wrong with a recipe, for `--json`.
    pub problems: Vec<Diagnostic>,
}

impl CommandError {
    pub fn new(exit: Exit, kind: ErrorKind, message: impl Into<String>) -> CommandError {
        CommandError { exit, kind, message: message.into(), shown: false, problems: Vec::new() }
    }

    pub fn bad_input(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::BadInput, ErrorKind::BadInput, message)
    }

    /// What was named does not exist.
    pub fn not_found(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::BadInput, ErrorKind::NotFound, message)
    }

    pub fn setup(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Setup, ErrorKind::Setup, message)
    }
}

/// The system has no thread left for us.
pub fn no_thread(error: std::io::Error) -> CommandError {
    CommandError::setup(format!("cannot start a thread: {error}"))
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> CommandError {
        match error {
            StoreError::NoSuchRun(_) => {
                let message = format!("{error}{NO_SUCH_RUN}");
                CommandError::new(Exit::BadInput, ErrorKind::NotFound, message)
            }
            StoreError::Full { .. } => {
                let message = format!("{error}, then try again");
                CommandError::new(Exit::Setup, ErrorKind::State, message)
            }
            _ => CommandError::new(Exit::Setup, ErrorKind::State, error.to_string()),
        }
    }
}

impl From<ResultError> for CommandError {
    fn from(error: ResultError) -> CommandError {
        match error {
            ResultError::Store(error) => error.into(),
            ResultError::Read { .. } => CommandError::setup(error.to_string()),
        }
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> CommandError {
        let (exit, kind) = match &error {
            EngineError::Store(StoreError::NoSuchRun(_)) => (Exit::BadInput, ErrorKind::NotFound),
            EngineError::Owned { .. } => (Exit::Setup, ErrorKind::InUse),
            EngineError::NoSuchStep(_)
            | EngineError::Answer(_)
            | EngineError::OutcomeMissing { .. }
            | EngineError::EditRefused(_)
            | EngineError::Script(_)
            | EngineError::SecretInPlan { .. } => (Exit::BadInput, ErrorKind::BadInput),
            EngineError::SecretMissing { .. } => (Exit::Setup, ErrorKind::Setup),
            EngineError::Unmet(_) => (Exit::Setup, ErrorKind::MissingProgram),
            EngineError::NoSandbox { .. } => (Exit::Setup, ErrorKind::NoSandbox),
            EngineError::Process(_) | EngineError::WardenGone => (Exit::Setup, ErrorKind::Process),
            _ => (Exit::Setup, ErrorKind::State),
        };
        CommandError::new(exit, kind, with_hint(&error))
    }
}

/// An error of the engine, with the flag or the command that helps.
fn with_hint(error: &EngineError) -> String {
    match error {
        EngineError::Owned { run, .. } => {
            format!("{error}; wait for it, or `towpath cancel {run}`")
        }
        EngineError::EditRefused(_) => {
            format!("{error}; resume without --edited, or start a new run")
        }
        EngineError::NoSandbox { .. } => {
            format!("{error}; nothing was run. Install bubblewrap, or allow user namespaces")
        }
        EngineError::Script(_) => {
            format!("{error}; put it back, or resume with --script and another script")
        }
        EngineError::OutcomeMissing { step, outcomes } => {
            let listed = outcomes.join(", ");
            format!("{step} is a state machine's step: give its outcome with --outcome: {listed}")
        }
        EngineError::Store(StoreError::NoSuchRun(_)) => format!("{error}{NO_SUCH_RUN}"),
        EngineError::Store(StoreError::Full { .. }) => {
            format!(
                "{error}, then resume the run, or start it again if `towpath runs` does not list it"
            )
        }
        _ => error.to_string(),
    }
}

const NO_SUCH_RUN: &str = "; `towpath runs` lists them";

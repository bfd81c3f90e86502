//! How programs under test are confined: what they may read, which limits they have, which environment
//! they see. One setup serves the probes of an install, the check of a recipe and `verify` later, so
//! that a check which passed once is run the same way again.

use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, Limits, Policy, SandboxCommand, SandboxError, SandboxSession,
    SandboxedEnd,
};

/// Wrappers in Python or Java take seconds.
const TIME_LIMIT: Duration = Duration::from_secs(10);
const OUTPUT_LIMIT: u64 = 1 << 20;
const SYSTEM_PATH: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The environment beside `PATH`: nothing in it is what a user may have set.
const VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "C.UTF-8"),
    // Otherwise Python reads and writes ASCII there, and some of its tools refuse to run.
    ("PYTHONUTF8", "1"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// What programs under test are run with.
#[derive(Debug, Clone)]
pub struct SandboxSetup {
    pub confinement: Confinement,
    /// The program that is started inside of the sandbox: our own.
    pub own_program: PathBuf,
    /// Directories that the programs need and that are no system directories: the install, its
    /// interpreter.
    pub readable: Vec<PathBuf>,
    /// Directories that come before the system's on PATH: those of interpreters.
    pub path: Vec<PathBuf>,
    /// Directories that come after the system's: a program of the install may have the name of an
    /// interpreter, and must not become that of the others.
    pub install_path: Vec<PathBuf>,
}

/// Which sandbox was used, and what it could not keep a program from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SandboxNote {
    pub kind: &'static str,
    pub not_enforced: Vec<&'static str>,
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error("{0}")]
    Sandbox(#[from] SandboxError),
    #[error("`{0}` is not found in the install")]
    NoProgram(String),
    #[error("the command cannot be used: {0}")]
    Command(#[from] crate::command_words::CommandWordsError),
}

impl SandboxSetup {
    pub fn note(&self) -> SandboxNote {
        let not_enforced = self.confinement.not_enforced(&self.policy());
        SandboxNote { kind: self.confinement.as_str(), not_enforced }
    }

    pub fn open(&self) -> Result<SandboxSession, SandboxError> {
        SandboxSession::open(&self.confinement, &self.policy(), &self.own_program)
    }

    fn policy(&self) -> Policy {
        Policy {
            readable: self.readable.clone(),
            writable: Vec::new(),
            network: false,
            drop_user: true,
            limits: Limits::default(),
        }
    }

    /// The directories on a program's PATH.
    pub fn search_path(&self) -> Vec<PathBuf> {
        let mut path = self.path.clone();
        for directory in SYSTEM_PATH.iter().map(PathBuf::from).chain(self.install_path.clone()) {
            if !path.contains(&directory) {
                path.push(directory);
            }
        }
        path
    }

    /// Runs a program once.
    pub(super) fn run(
        &self,
        session: &mut SandboxSession,
        program: PathBuf,
        arguments: Vec<OsString>,
        terminal: bool,
    ) -> Result<SandboxedEnd, SandboxError> {
        let directories: Vec<OsString> = self.search_path().into_iter().map(Into::into).collect();
        let path = ("PATH".into(), directories.join(":".as_ref()));
        let others = VARIABLES.iter().map(|(name, value)| (name.into(), value.into()));
        let command = SandboxCommand {
            program,
            arguments,
            environment: std::iter::once(path).chain(others).collect(),
            directory: CommandDirectory::Fresh,
            terminal,
            time_limit: TIME_LIMIT,
            output_limit: OUTPUT_LIMIT,
        };
        session.run(&command, &mut |_, _| {})
    }
}

//! How programs under test are confined: what they may read, which limits they have, which environment
//! they see. One setup serves the probes of an install, the check of a recipe and `verify` later, so
//! that a check which passed once is run the same way again.

use crate::observation::ProcessEnd;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, EndStatus, Limits, Policy, SandboxCommand, SandboxError,
    SandboxSession, SandboxedEnd,
};

/// Wrappers in Python or Java take seconds.
const TIME_LIMIT: Duration = Duration::from_secs(10);
const OUTPUT_LIMIT: u64 = 1 << 20;
/// What every program finds on its PATH, after the directories of its own install.
const SYSTEM_PATH: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// What programs under test are run with.
#[derive(Debug, Clone)]
pub struct SandboxSetup {
    pub confinement: Confinement,
    /// The program that is started inside of the sandbox: our own.
    pub own_program: PathBuf,
    /// Directories that the programs need and that are no system directories: the install, its
    /// interpreter.
    pub readable: Vec<PathBuf>,
    /// Directories that come first on PATH.
    pub path: Vec<PathBuf>,
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
        let system = SYSTEM_PATH.iter().map(PathBuf::from);
        let mut path = self.path.clone();
        path.extend(system.filter(|directory| !self.path.contains(directory)));
        path
    }

    /// Runs a program once, with nothing in its environment that a user may have set.
    pub(crate) fn run(
        &self,
        session: &mut SandboxSession,
        program: &Path,
        arguments: &[String],
        terminal: bool,
    ) -> Result<SandboxedEnd, SandboxError> {
        let directories = self.search_path();
        let directories: Vec<&OsStr> = directories.iter().map(|path| path.as_os_str()).collect();
        let path = directories.join(OsStr::new(":"));
        let variables: [(&str, &OsStr); 5] = [
            ("PATH", &path),
            ("LC_ALL", OsStr::new("C.UTF-8")),
            // Otherwise Python reads and writes ASCII there, and some of its tools refuse to run.
            ("PYTHONUTF8", OsStr::new("1")),
            ("TERM", OsStr::new("dumb")),
            ("NO_COLOR", OsStr::new("1")),
        ];
        let environment =
            variables.iter().map(|(name, value)| (OsString::from(name), (*value).to_owned()));
        let command = SandboxCommand {
            program: program.to_owned(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: environment.collect(),
            directory: CommandDirectory::Fresh,
            terminal,
            time_limit: TIME_LIMIT,
            output_limit: OUTPUT_LIMIT,
        };
        session.run(&command, &mut |_, _| {})
    }
}

/// How a run ended, as an observation has it.
pub(crate) fn process_end(status: &EndStatus) -> ProcessEnd {
    match status {
        EndStatus::Exited(code) => ProcessEnd::Exited(*code),
        EndStatus::Signaled(signal) => ProcessEnd::Signaled(*signal),
        EndStatus::TimedOut => ProcessEnd::TimedOut,
        EndStatus::OutputLimit => ProcessEnd::OutputLimit,
        EndStatus::MemoryLimit => ProcessEnd::MemoryLimit,
        EndStatus::ProcessLimit => ProcessEnd::ProcessLimit,
        EndStatus::NotStarted(errno) => ProcessEnd::NotStarted(errno.clone()),
    }
}

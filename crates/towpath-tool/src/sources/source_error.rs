//! Why a source could not do what was asked. What a client printed is part of it, as text without
//! escape sequences: it names the cause better than we could.

use super::candidate::Unusable;
use super::source_ref::SourceRefError;
use crate::archive::ArchiveError;
use crate::attestation::AttestationError;
use crate::download::DownloadError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use towpath_process::sandbox::{EndStatus, SandboxError};

pub(super) type Result<T, E = SourceError> = std::result::Result<T, E>;

#[derive(Debug, Error)]
pub enum SourceError {
    /// The client of a registry, or a program that a build needs.
    #[error("`{0}` is not installed")]
    MissingClient(&'static str),
    #[error("{client} {}{}", ended(.status), after_colon(.message))]
    Client { client: &'static str, status: EndStatus, message: String },
    #[error("{client} printed something unexpected: {what}")]
    Output { client: &'static str, what: String },
    #[error("{from} {version} is not found")]
    NotFound { from: String, version: String },
    #[error("{from} {version}: {unusable}")]
    Unusable { from: String, version: String, unusable: Unusable },
    #[error("{0} has other bytes than the lock file has for it")]
    OtherBytes(String),
    #[error(
        "`{0}`: an http address needs the hash of its file, which anybody on the way can replace"
    )]
    Replaceable(String),
    #[error("the recipe has no steps for this machine")]
    NoSteps,
    #[error("a step of the recipe needs {0}, which is no source of this program")]
    ForeignStep(&'static str),
    #[error("`{0}` is not a version")]
    Version(String),
    #[error(transparent)]
    Name(#[from] SourceRefError),
    #[error("`{0}` is not in what was fetched")]
    NoFile(String),
    #[error("`{}` is a link where the install needs a directory or a file", .0.display())]
    NotInside(PathBuf),
    #[error("`{0}` would be installed twice")]
    TwoPrograms(String),
    #[error(transparent)]
    Download(#[from] DownloadError),
    #[error(transparent)]
    Attestation(#[from] AttestationError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("`{}`: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// Names the file or directory that something failed at.
pub(super) trait AtPath<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|error| SourceError::Io { path: path.to_owned(), error })
    }
}

impl SourceError {
    pub(super) fn output(client: &'static str, what: impl std::fmt::Display) -> SourceError {
        SourceError::Output { client, what: what.to_string() }
    }
}

fn ended(status: &EndStatus) -> String {
    match status {
        EndStatus::Exited(code) => format!("failed with exit code {code}"),
        EndStatus::Signaled(signal) => format!("was ended by signal {signal}"),
        EndStatus::TimedOut => "took too long".to_owned(),
        EndStatus::OutputLimit => "printed too much".to_owned(),
        EndStatus::MemoryLimit => "used too much memory".to_owned(),
        EndStatus::ProcessLimit => "started too many processes".to_owned(),
        EndStatus::NotStarted(errno) => format!("could not be started: {errno}"),
    }
}

/// What a program printed, in one line.
fn after_colon(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.collect::<Vec<_>>().join(" ");
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_printed_is_one_line() {
        assert_eq!(
            after_colon("error: no toolchain\nhelp: choose one\n\n"),
            ": error: no toolchain help: choose one"
        );
        assert_eq!(after_colon("\n"), "");
    }
}

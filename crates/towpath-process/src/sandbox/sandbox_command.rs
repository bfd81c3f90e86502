//! One command for a sandbox, and how it ended.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A program to run in a sandbox. It is executed directly: what the kernel cannot execute is reported,
/// and never handed to a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxCommand {
    /// Absolute.
    pub program: PathBuf,
    /// Without the program's own name.
    pub arguments: Vec<OsString>,
    /// The complete environment. `HOME` and `TMPDIR` are replaced where the directory is `Fresh`.
    pub environment: Vec<(OsString, OsString)>,
    pub directory: CommandDirectory,
    /// A pseudo-terminal of 80 columns as stdin, stdout and stderr; all output is then stdout, with
    /// the line ends of a terminal. Otherwise stdin is empty, and the outputs are pipes.
    pub terminal: bool,
    pub time_limit: Duration,
    /// Of both streams together.
    pub output_limit: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandDirectory {
    /// An empty home and an empty working directory, removed afterwards.
    Fresh,
    /// This directory, which the policy makes visible.
    At(PathBuf),
}

/// How a command ended, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxedEnd {
    pub status: EndStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// From the start of the program to its own end.
    pub took: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndStatus {
    Exited(i32),
    /// Ended by a signal that the sandbox did not send.
    Signaled(i32),
    TimedOut,
    OutputLimit,
    MemoryLimit,
    /// More processes than allowed, where the kernel does not refuse to make them.
    ProcessLimit,
    /// The kernel refused to execute the program; the name of its error, such as `ENOENT`.
    NotStarted(String),
}

impl EndStatus {
    /// Whether this can be true at all: it comes from inside of the sandbox.
    pub(super) fn is_possible(&self) -> bool {
        match self {
            EndStatus::Exited(code) => (0..=255).contains(code),
            EndStatus::Signaled(signal) => (1..=64).contains(signal),
            EndStatus::NotStarted(name) => {
                let letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
                (2..=20).contains(&name.len()) && name.bytes().all(letter)
            }
            EndStatus::TimedOut
            | EndStatus::OutputLimit
            | EndStatus::MemoryLimit
            | EndStatus::ProcessLimit => true,
        }
    }
}

//! The registries' own clients: cargo, npm, pip and apt, run with the user's environment, so that their
//! configuration, mirrors and credentials count. They run without confinement, because they need the
//! network and the user's files and run no foreign code; still nothing that they start outlives us.

use super::source_context::variable;
use super::source_error::SourceError;
use crate::clean_printed_text::{captured_text, clean_text};
use rustix::fs::{Access, access};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_core::Stream;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, EndStatus, Limits, Policy, SandboxCommand, SandboxSession,
};

/// A question to a registry.
pub(super) const LOOK_UP_TIME: Duration = Duration::from_secs(60);
/// A download of everything that a package needs.
pub(super) const FETCH_TIME: Duration = Duration::from_secs(30 * 60);

const OUTPUT_LIMIT: u64 = 64 << 20;
/// How much of a failed client's messages is kept.
const LONGEST_MESSAGE: usize = 1500;

/// Nothing here is foreign: these only end what went wrong.
const LIMITS: Limits = Limits {
    scratch_bytes: 1 << 30,
    memory_bytes: 32 << 30,
    processes: 1 << 20,
    file_bytes: 64 << 30,
};

/// Set for every client: messages are read, so they are English and without colour.
const MESSAGES: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("LANGUAGE", "C"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_COLOR", "never"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// The part of a context that clients need; threads can share it.
#[derive(Clone, Copy)]
pub(super) struct Clients<'c> {
    pub environment: &'c [(OsString, OsString)],
    pub own_program: &'c Path,
}

/// One call of a client.
pub(super) struct ClientCall<'c> {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// A directory of our own: clients read configuration from where they are.
    pub directory: &'c Path,
    pub variables: Vec<(&'static str, OsString)>,
    pub time_limit: Duration,
}

#[derive(Debug)]
pub(super) struct ClientOutput {
    pub status: EndStatus,
    pub stdout: String,
    pub stderr: String,
}

impl<'c> Clients<'c> {
    /// A program on the user's PATH.
    pub fn find(&self, program: &'static str) -> Result<PathBuf, SourceError> {
        let path = variable(self.environment, "PATH").unwrap_or_default();
        find_program(path, program).ok_or(SourceError::MissingClient(program))
    }

    pub fn variable(&self, name: &str) -> Option<&'c OsStr> {
        variable(self.environment, name)
    }

    /// A call of a program on PATH, in a directory of our own.
    pub fn call(
        &self,
        client: &'static str,
        directory: &'c Path,
        arguments: &[&str],
    ) -> Result<ClientCall<'c>, SourceError> {
        Ok(ClientCall {
            program: self.find(client)?,
            arguments: arguments.iter().map(OsString::from).collect(),
            directory,
            variables: Vec::new(),
            time_limit: LOOK_UP_TIME,
        })
    }

    /// Runs a client to its end, however that is. `line` sees what it prints.
    pub fn run(
        &self,
        call: ClientCall<'_>,
        line: &mut dyn FnMut(&str),
    ) -> Result<ClientOutput, SourceError> {
        let policy = Policy { network: true, limits: LIMITS, ..Policy::default() };
        let mut session = SandboxSession::open(&Confinement::None, &policy, self.own_program)?;
        let command = SandboxCommand {
            program: call.program,
            arguments: call.arguments,
            environment: self.environment_with(&call.variables),
            directory: CommandDirectory::At(call.directory.to_owned()),
            terminal: false,
            time_limit: call.time_limit,
            output_limit: OUTPUT_LIMIT,
        };
        let mut lines = PrintedLines::default();
        let end = session.run(&command, &mut |stream, bytes| lines.push(stream, bytes, line))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(ClientOutput { status: end.status, stdout: text(end.stdout), stderr: text(end.stderr) })
    }

    fn environment_with(
        &self,
        variables: &[(&'static str, OsString)],
    ) -> Vec<(OsString, OsString)> {
        let fixed = MESSAGES.iter().map(|(name, value)| (OsString::from(name), value.into()));
        let own = variables.iter().map(|(name, value)| (OsString::from(name), value.clone()));
        let set: Vec<(OsString, OsString)> = fixed.chain(own).collect();
        let inherited =
            self.environment.iter().filter(|(name, _)| set.iter().all(|(n, _)| n != name));
        inherited.cloned().chain(set.iter().cloned()).collect()
    }
}

impl ClientCall<'_> {
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    pub fn time_limit(mut self, time_limit: Duration) -> Self {
        self.time_limit = time_limit;
        self
    }
}

impl ClientOutput {
    pub fn succeeded(&self) -> bool {
        self.status == EndStatus::Exited(0)
    }

    /// The output of a client that must have succeeded.
    pub fn success(self, client: &'static str) -> Result<ClientOutput, SourceError> {
        if self.succeeded() { Ok(self) } else { Err(self.failure(client)) }
    }

    pub fn failure(&self, client: &'static str) -> SourceError {
        let message = failure_message(&self.stdout, &self.stderr);
        SourceError::Client { client, status: self.status.clone(), message }
    }
}

/// The end of what a failed program printed: the cause is last.
pub(super) fn failure_message(stdout: &str, stderr: &str) -> String {
    let text = if stderr.trim().is_empty() { stdout } else { stderr };
    let text = clean_text(text);
    let text = text.trim();
    let start = text.len().saturating_sub(LONGEST_MESSAGE);
    let tail = &text[text.ceil_char_boundary(start)..];
    // Whole lines, if there is more than one.
    let tail = match tail.split_once('\n') {
        Some((_, lines)) if start > 0 => lines,
        _ => tail,
    };
    let lines: Vec<&str> = tail.lines().collect();
    let first = lines.iter().position(|line| is_error_line(line)).unwrap_or(0);
    let lines = lines[first..].iter().take_while(|line| !is_backtrace(line));
    lines.copied().collect::<Vec<_>>().join("\n")
}

/// The line in which a client states the cause; what was printed before it is its progress.
fn is_error_line(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    ["error:", "error[", "e: ", "npm error", "npm err!"].iter().any(|start| line.starts_with(start))
}

fn is_backtrace(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    line.starts_with("stack backtrace:") || line.starts_with("note: run with `rust_backtrace")
}

/// The lines of both streams as they come.
#[derive(Debug, Default)]
pub(super) struct PrintedLines {
    begun: [Vec<u8>; 2],
}

impl PrintedLines {
    pub fn push(&mut self, stream: Stream, bytes: &[u8], line: &mut dyn FnMut(&str)) {
        let begun = &mut self.begun[usize::from(stream == Stream::Stderr)];
        begun.extend_from_slice(bytes);
        while let Some(end) = begun.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let rest = begun.split_off(end + 1);
            let text = clean_text(&captured_text(&std::mem::replace(begun, rest)));
            if !text.trim().is_empty() {
                line(text.trim());
            }
        }
        // A line without end is not worth its memory.
        begun.truncate(1 << 16);
    }
}

pub(super) fn find_program(path: &OsStr, name: &str) -> Option<PathBuf> {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    directories
        .map(|directory| directory.join(name))
        .find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_what_a_client_printed_is_its_message() {
        assert_eq!(failure_message("out", " \n"), "out");
        assert_eq!(failure_message("out", "\u{1b}[31merror\u{1b}[0m: x\n"), "error: x");
        let long = format!("{}\nlast: é", "x".repeat(3000));
        assert_eq!(failure_message("", &long), "last: é");
        assert_eq!(failure_message("", &"é".repeat(3000)).chars().count(), 750);
        let printed =
            "Updating index\nerror: no such crate\n  it is gone\n\nStack backtrace:\n   0: x";
        assert_eq!(failure_message("", printed), "error: no such crate\n  it is gone\n");
    }

    #[test]
    fn lines_come_one_by_one_from_both_streams() {
        let mut seen = Vec::new();
        let mut lines = PrintedLines::default();
        for (stream, bytes) in [
            (Stream::Stdout, "a"),
            (Stream::Stderr, "x\ny"),
            (Stream::Stdout, "b\n\n\u{1b}[1mc\r"),
            (Stream::Stderr, "\n"),
        ] {
            lines.push(stream, bytes.as_bytes(), &mut |line| seen.push(line.to_owned()));
        }
        assert_eq!(seen, ["x", "ab", "c", "y"]);
    }
}

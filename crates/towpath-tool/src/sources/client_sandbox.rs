//! Where foreign packages are fetched and built: the clients of registries and the builds of tools, always
//! confined. They see the system, a writable directory of ours and an empty home. With network they
//! get the user's configuration of their registry, and nothing else of the user; without, nothing at all.
//! Opened by root, commands run as a user without rights; the directory belongs to that user for so long.

use super::building::{outside_of_system, real_directory};
use super::source_context::{SourceContext, Unit};
use super::source_error::{AtPath as _, Result, SourceError};
use crate::file_hash::each_below;
use crate::printed_text::{captured_text, clean_text};
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_core::Stream;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, EndStatus, Limits, Policy, SandboxCommand, SandboxSession,
    SandboxedEnd,
};

const OUTPUT_LIMIT: u64 = 64 << 20;
/// How much of a failed client's messages is kept.
const LONGEST_MESSAGE: usize = 1500;
/// Linking a large program takes gigabytes.
const LIMITS: Limits =
    Limits { scratch_bytes: 4 << 30, memory_bytes: 16 << 30, processes: 4096, file_bytes: 8 << 30 };
/// The user that the sandbox gives up its rights to.
const NOBODY: u32 = 65534;
/// Where programs of the system are.
pub(super) const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Inside of the writable directory, for what only the commands need.
const WORK: &str = ".build";
/// Variables that every client with network gets: how the network is reached.
const NETWORK_VARIABLES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// The user's configuration of one registry: mirrors and credentials.
pub(super) struct Configuration {
    /// Names the file or directory, for the user and for the client, which gets a copy.
    pub variable: &'static str,
    /// Below the home, where the variable is not set; the first that exists.
    pub below_home: &'static [&'static str],
    /// The files, where it is a directory.
    pub files: &'static [&'static str],
    /// How the names of variables begin that the client gets, in capital letters.
    pub variables: &'static [&'static str],
}

impl SourceContext<'_> {
    /// A program of the user: one on the PATH that the caller gives.
    pub(super) fn find(&self, program: &'static str) -> Result<PathBuf> {
        let path = self.variable("PATH").unwrap_or_default();
        find_program(path, program).ok_or(SourceError::MissingClient(program))
    }

    /// The answer of a program of the user about itself. It runs nothing foreign, and is not confined.
    pub(super) fn ask(&self, program: &'static str, arguments: &[&str]) -> Result<String> {
        let policy = Policy { network: true, ..Policy::default() };
        let mut session = SandboxSession::open(&Confinement::None, &policy, &self.own_program)?;
        let command = SandboxCommand {
            program: self.find(program)?,
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self.environment.clone(),
            // A fresh directory would have a home of its own, in which version managers find nothing.
            directory: CommandDirectory::At(PathBuf::from("/")),
            terminal: false,
            time_limit: self.time_limits.answer,
            output_limit: OUTPUT_LIMIT,
        };
        let end = session.run(&command, &mut |_, _| {})?;
        Ok(Output::from(end).success(program)?.stdout)
    }
}

pub(super) fn find_program(path: &OsStr, name: &str) -> Option<PathBuf> {
    let directories = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    directories
        .map(|directory| directory.join(name))
        .find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
}

/// One command.
pub(super) struct Call {
    /// How messages name it.
    pub name: &'static str,
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub variables: Vec<(&'static str, OsString)>,
    /// Before the system's directories.
    pub path: Vec<PathBuf>,
    /// Inside of what the sandbox shows; where there is none, the directory for work.
    pub directory: Option<PathBuf>,
}

impl Call {
    /// With arguments that are separated by spaces.
    pub fn new(name: &'static str, program: impl Into<PathBuf>, words: &str) -> Call {
        let (arguments, variables, path) = (Vec::new(), Vec::new(), Vec::new());
        let call =
            Call { name, program: program.into(), arguments, variables, path, directory: None };
        call.list(words.split_whitespace())
    }

    pub fn arguments(self, arguments: &[&dyn AsRef<OsStr>]) -> Call {
        self.list(arguments)
    }

    pub fn list<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Call {
        self.arguments.extend(arguments.into_iter().map(|one| one.as_ref().to_owned()));
        self
    }

    pub fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Call {
        self.variables.push((name, value.into()));
        self
    }
}

#[derive(Debug)]
pub(super) struct Output {
    pub status: EndStatus,
    pub stdout: String,
    pub stderr: String,
}

impl From<SandboxedEnd> for Output {
    fn from(end: SandboxedEnd) -> Output {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Output { status: end.status, stdout: text(end.stdout), stderr: text(end.stderr) }
    }
}

impl Output {
    pub fn succeeded(&self) -> bool {
        self.status == EndStatus::Exited(0)
    }

    pub fn success(self, client: &'static str) -> Result<Output> {
        if self.succeeded() { Ok(self) } else { Err(self.failure(client)) }
    }

    pub fn failure(&self, client: &'static str) -> SourceError {
        let message = failure_message(&self.stdout, &self.stderr);
        SourceError::Client { client, status: self.status.clone(), message }
    }
}

pub(super) struct ClientSandbox<'c> {
    pub context: &'c SourceContext<'c>,
    session: Option<SandboxSession>,
    writable: PathBuf,
    drops_user: bool,
    variables: Vec<(OsString, OsString)>,
    time_limit: Duration,
}

impl<'c> ClientSandbox<'c> {
    /// A sandbox that sees `readable` and changes nothing but `writable`. With the configuration of a
    /// registry it has network. Each of its commands has the time.
    pub fn open(
        context: &'c SourceContext<'c>,
        configuration: Option<&Configuration>,
        time_limit: Duration,
        mut readable: Vec<PathBuf>,
        writable: &Path,
    ) -> Result<ClientSandbox<'c>> {
        // Elsewhere the user's parents of the directory would be closed for a user without rights.
        let namespaces =
            matches!(context.confinement, Confinement::Bubblewrap { .. } | Confinement::Namespaces);
        let drops_user = namespaces && geteuid().is_root();
        let work = real_directory(writable, WORK)?;
        real_directory(writable, &format!("{WORK}/home"))?;
        let mut variables = Vec::new();
        if let Some(configuration) = configuration {
            variables = copy_configuration(context, configuration, &work)?;
            let files = variables.iter().map(|(_, value)| PathBuf::from(value));
            let files = files.filter(|file| file.is_absolute() && !file.starts_with(writable));
            readable.extend(outside_of_system(files.filter(|file| file.exists())));
        }
        let policy = Policy {
            readable,
            writable: vec![writable.to_owned()],
            network: configuration.is_some(),
            drop_user: drops_user,
            limits: LIMITS,
        };
        let writable = writable.to_owned();
        let mut sandbox =
            ClientSandbox { context, session: None, writable, drops_user, variables, time_limit };
        sandbox.give(&sandbox.writable)?;
        sandbox.session =
            Some(SandboxSession::open(&context.confinement, &policy, &context.own_program)?);
        Ok(sandbox)
    }

    /// A directory for what only the commands need.
    pub fn work(&self) -> PathBuf {
        self.writable.join(WORK)
    }

    /// Runs a command to its end, however that is.
    pub fn run(&mut self, call: Call) -> Result<Output> {
        self.run_printing(call, &mut |_| {})
    }

    /// Runs a command, and shows and counts the lines that have a text, from there on.
    pub fn run_shown(&mut self, call: Call, shown: &str) -> Result<Output> {
        let (context, mut count) = (self.context, 0);
        self.run_printing(call, &mut |line| {
            let Some((_, what)) = line.split_once(shown) else { return };
            count += 1;
            if !shown.is_empty() {
                context.progress().amount(count, None, Unit::Items);
            }
            context.progress().line(what);
        })
    }

    fn run_printing(&mut self, call: Call, line: &mut dyn FnMut(&str)) -> Result<Output> {
        let work = self.work();
        let system = std::env::split_paths(SYSTEM_PATH);
        let path = std::env::join_paths(call.path.into_iter().chain(system))
            .map_err(|_| SourceError::NoFile("a directory without a colon".to_owned()))?;
        let fixed: [(&str, OsString); 6] = [
            ("PATH", path),
            ("HOME", work.join("home").into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("NO_COLOR", "1".into()),
            ("CARGO_TERM_COLOR", "never".into()),
            ("CI", "true".into()),
        ];
        let own = fixed.into_iter().chain(call.variables).map(|(name, value)| (name.into(), value));
        let command = SandboxCommand {
            program: call.program,
            arguments: call.arguments,
            environment: self.variables.iter().cloned().chain(own).collect(),
            directory: CommandDirectory::At(call.directory.unwrap_or(work)),
            terminal: false,
            time_limit: self.time_limit,
            output_limit: OUTPUT_LIMIT,
        };
        let session = self.session.as_mut().expect("it is open until it is dropped");
        let mut lines = PrintedLines::default();
        let end = session.run(&command, &mut |stream, bytes| lines.push(stream, bytes, line))?;
        Ok(end.into())
    }

    /// Hands files that were written since to the user that the commands run as.
    pub fn give(&self, path: &Path) -> Result<()> {
        self.change_owner(path, NOBODY)
    }

    fn change_owner(&self, path: &Path, user: u32) -> Result<()> {
        if !self.drops_user {
            return Ok(());
        }
        each_below(path, &mut |path, _| lchown(path, Some(user), Some(user))).at(path)
    }
}

impl Drop for ClientSandbox<'_> {
    fn drop(&mut self) {
        // Everything in it ends before its files are looked at.
        self.session = None;
        let _ = fs::remove_dir_all(self.work());
        let _ = self.change_owner(&self.writable, 0);
    }
}

/// Copies the user's files for a registry into the directory for work, which is removed at the end.
/// Returns the variables of the client.
fn copy_configuration(
    context: &SourceContext<'_>,
    configuration: &Configuration,
    work: &Path,
) -> Result<Vec<(OsString, OsString)>> {
    let wanted = |name: &OsString| {
        let name = name.to_string_lossy().to_ascii_uppercase();
        let mut starts = NETWORK_VARIABLES.iter().chain(configuration.variables);
        name != configuration.variable && starts.any(|start| name.starts_with(start))
    };
    let mut variables: Vec<(OsString, OsString)> =
        context.environment.iter().filter(|(name, _)| wanted(name)).cloned().collect();
    let home = PathBuf::from(context.variable("HOME").unwrap_or_default());
    let named = context.variable(configuration.variable).map(PathBuf::from);
    let below_home = configuration.below_home.iter().map(|file| home.join(file));
    let user = named.into_iter().chain(below_home).find(|file| file.exists());
    let copy = work.join("configuration");
    let copies: Vec<(Option<PathBuf>, PathBuf)> = match configuration.files {
        [] => vec![(user, copy.clone())],
        files => {
            fs::create_dir_all(&copy).at(&copy)?;
            let below = |file: &&str| (user.as_ref().map(|user| user.join(file)), copy.join(file));
            files.iter().map(below).collect()
        }
    };
    for (from, to) in copies {
        if let Some(from) = from.filter(|from| from.is_file()) {
            fs::copy(&from, &to).at(&from)?;
        }
    }
    variables.push((configuration.variable.into(), copy.into()));
    Ok(variables)
}

/// The output of a failed program, from the line that names the cause; its end, if none does.
fn failure_message(stdout: &str, stderr: &str) -> String {
    let text = clean_text(if stderr.trim().is_empty() { stdout } else { stderr });
    let lines: Vec<&str> = text.trim().lines().collect();
    let Some(first) = lines.iter().position(|line| is_error_line(line)) else {
        let text = lines.join("\n");
        let end = &text[text.ceil_char_boundary(text.len().saturating_sub(LONGEST_MESSAGE))..];
        let whole = end.split_once('\n').filter(|_| end.len() < text.len());
        return whole.map_or(end, |(_, whole)| whole).trim().to_owned();
    };
    let lines = lines[first..].iter().take_while(|line| !is_backtrace(line));
    let mut message = lines.copied().collect::<Vec<_>>().join("\n");
    message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
    message.trim().to_owned()
}

/// The line in which a client states the cause; what was printed before it is its progress.
fn is_error_line(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    ["error:", "error[", "npm error", "npm err!"].iter().any(|start| line.starts_with(start))
}

fn is_backtrace(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    line.starts_with("stack backtrace:") || line.starts_with("note: run with `rust_backtrace")
}

/// The lines of both streams as they come.
#[derive(Debug, Default)]
struct PrintedLines {
    begun: [Vec<u8>; 2],
}

impl PrintedLines {
    fn push(&mut self, stream: Stream, bytes: &[u8], line: &mut dyn FnMut(&str)) {
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
        assert_eq!(failure_message("", printed), "error: no such crate\n  it is gone");
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

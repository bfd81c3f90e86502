//! The program's own commands: asked for a view, or started as a process of its own that lives on
//! when the server ends. Which command does what is written here and nowhere else in the server.

use crate::Server;
use crate::answer::Refusal;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A question that a command of the program answers.
#[derive(Debug)]
pub(crate) enum Asking<'a> {
    Recipes,
    Doctor,
    Recipe(&'a str),
    Chart(&'a str),
    /// A recipe, and what its variables are set to.
    DryRun(&'a str, &'a [&'a str]),
    Trust(&'a Path),
    /// A run, or one of its steps.
    Diff(&'a str, Option<&'a str>),
}

impl Asking<'_> {
    fn arguments(&self) -> Vec<OsString> {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        match self {
            Asking::Recipes => words(&["list", "--json"]),
            Asking::Doctor => words(&["doctor", "--json"]),
            Asking::Recipe(name) => words(&["explain", "--json", "--", name]),
            Asking::Chart(name) => words(&["explain", "--format", "svg", "--", name]),
            Asking::DryRun(name, set) => {
                let mut arguments = words(&["run", "--dry-run", "--json", "--quiet"]);
                set.iter().for_each(|set| arguments.push(format!("--set={set}").into()));
                arguments.extend(words(&["--", name]));
                arguments
            }
            Asking::Diff(run, step) => {
                let diff = step.map_or("--diff".to_owned(), |step| format!("--diff={step}"));
                words(&["show", &diff, "--", run])
            }
            Asking::Trust(file) => {
                let mut arguments = words(&["trust", "--json", "--"]);
                arguments.push(file.into());
                arguments
            }
        }
    }
}

/// `NAME=VALUE` for each input.
pub(crate) fn input_pairs(inputs: &Map<String, Value>) -> Result<Vec<String>, Refusal> {
    let pair = |(name, value): (&String, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(Refusal::bad_input(format!("`{name}` cannot be the name of an input")));
        }
        if text.contains('\0') || text.len() > LONGEST_INPUT {
            let message = format!("the input {name} has a NUL, or more than {LONGEST_INPUT} bytes");
            return Err(Refusal::bad_input(message));
        }
        Ok(format!("{name}={text}"))
    };
    inputs.iter().map(pair).collect()
}

/// How often a process is looked at that is waited for.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_INPUT: usize = 100_000;
/// What is kept of what a command prints.
const MOST: u64 = 8 * 1024 * 1024;

/// What a command prints as JSON; a refusal is printed as JSON, too.
pub(crate) fn json(
    server: &Server,
    directory: &Path,
    asking: &Asking<'_>,
) -> Result<Value, Refusal> {
    let printed = printed_by(server, directory, asking)?.stdout;
    serde_json::from_str(&printed)
        .map_err(|_| Refusal::state(format!("an answer of the program cannot be read: {printed}")))
}

/// The output of a command, and whether it succeeded.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub succeeded: bool,
    pub stdout: String,
    pub stderr: String,
}

pub(crate) fn printed_by(
    server: &Server,
    directory: &Path,
    asking: &Asking<'_>,
) -> Result<CommandOutput, Refusal> {
    let arguments = asking.arguments();
    let mut started = Started::new(server, directory, &arguments)?;
    let until = Instant::now() + server.config.limits.command;
    loop {
        if let Some(status) = started.ended()? {
            let (stdout, stderr) = (started.stdout()?, started.stderr()?);
            return Ok(CommandOutput { succeeded: status.success(), stdout, stderr });
        }
        if Instant::now() >= until {
            started.kill();
            return Err(Refusal::state("a command of the program did not end in time"));
        }
        std::thread::sleep(PAUSE);
    }
}

/// A command that runs, whatever becomes of the server. It prints into files that have no name: a pipe
/// would end with the server, and the command with it.
#[derive(Debug)]
pub(crate) struct Started {
    child: Child,
    stdout: File,
    stderr: File,
}

impl Started {
    pub fn new(
        server: &Server,
        directory: &Path,
        arguments: &[OsString],
    ) -> Result<Started, Refusal> {
        let start = || -> io::Result<Started> {
            let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
            let mut command = Command::new(&server.config.program);
            command
                .args(arguments)
                .current_dir(directory)
                .stdin(Stdio::null())
                .stdout(stdout.try_clone()?)
                .stderr(stderr.try_clone()?);
            // SAFETY: between fork and exec nothing but this one call of the system is made.
            unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
            Ok(Started { child: command.spawn()?, stdout, stderr })
        };
        start().map_err(|error| Refusal::state(format!("the program cannot be started: {error}")))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Refusal> {
        self.child.try_wait().map_err(Refusal::state)
    }

    /// Waits for its end elsewhere, so that no dead process is left.
    pub fn leave(mut self) {
        std::thread::spawn(move || self.child.wait());
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn stdout(&mut self) -> Result<String, Refusal> {
        printed(&mut self.stdout)
    }

    pub fn stderr(&mut self) -> Result<String, Refusal> {
        printed(&mut self.stderr)
    }
}

fn printed(file: &mut File) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.take(MOST).read_to_end(&mut bytes)).map_err(Refusal::state)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

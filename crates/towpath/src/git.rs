//! Our own calls of git. They work where we say, whatever repository the caller is in; they never
//! ask anything, and run nothing that a repository brings along: no hooks, no file monitors, no
//! `ext::` commands in the place of a URL.

use crate::exit::Stop;
use crate::surroundings::Surroundings;
use crate::words::clean;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What would make git work in another repository than the one we name.
const FOREIGN: [&str; 7] = [
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
];

const GUARDS: [&str; 8] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "core.askPass=",
];

#[derive(Debug)]
pub struct Git {
    directory: PathBuf,
    /// How ssh is called, where nobody has said it: so that it fails instead of asking.
    ssh: Option<&'static str>,
}

impl Git {
    /// Calls of git in a directory.
    pub fn new(directory: &Path) -> Git {
        Git { directory: directory.to_owned(), ssh: None }
    }

    /// For calls that may reach another machine.
    pub fn over_network(mut self, around: &Surroundings) -> Git {
        let said = ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| around.get(name).is_some());
        if !said && self.run(&["config", "--get", "core.sshCommand"]).is_err() {
            self.ssh = Some("ssh -oBatchMode=yes");
        }
        self
    }

    /// What git prints; its complaint as the error.
    pub fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, Stop> {
        self.run_with(arguments, b"")
    }

    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Stop> {
        let mut command = Command::new("git");
        command.args(GUARDS).args(arguments).current_dir(&self.directory);
        for variable in FOREIGN {
            command.env_remove(variable);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "").env("LC_ALL", "C");
        if let Some(ssh) = self.ssh {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let cannot = |e: std::io::Error| Stop::setup(format!("git cannot be started: {e}"));
        let mut child = command.spawn().map_err(cannot)?;
        let output = match child.stdin.take() {
            // No thread: one that is just ending would still be there when a run begins.
            None => child.wait_with_output(),
            // From a thread of its own: git may print before it has read everything.
            Some(mut pipe) => std::thread::scope(|scope| {
                scope.spawn(move || {
                    // A git that does not want it says why on stderr.
                    let _ = pipe.write_all(input);
                });
                child.wait_with_output()
            }),
        };
        let output = output.map_err(cannot)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let said: Vec<String> = said.lines().map(clean).collect();
        let is_word = |a: &&&str| a.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let options = |a: &&&str| a.starts_with('-') || a.contains('=');
        let what = arguments.iter().filter(|a| !options(a)).find(is_word);
        let git = what.map_or("git".to_owned(), |what| format!("git {what}"));
        Err(Stop::setup(format!("{git}: {}", said.join("\n"))))
    }
}

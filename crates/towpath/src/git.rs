//! Our own calls of git. They work in the given directory, whatever repository the caller is in. They
//! never prompt, and start no hooks, no file monitors and no `ext::` commands instead of a URL
//! (`towpath_core::GIT_GUARDS`). A git directory inside another repository's tree is not used.

use crate::environment::{Environment, absolute_path_entries};
use crate::exit::CommandError;
use crate::terminal::format::clean;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use towpath_core::{GIT_FOREIGN, GIT_GUARDS};

#[derive(Debug)]
pub struct Git {
    directory: PathBuf,
    /// It is a bare repository: git uses one only where `--git-dir` names it.
    bare: bool,
    /// How ssh is called where nothing else sets it: so that it fails instead of asking.
    ssh: Option<&'static str>,
}

impl Git {
    /// Calls of git in a directory.
    pub fn new(directory: &Path) -> Git {
        let bare = is_git_directory(directory) && tree_around(directory).is_none();
        Git { directory: directory.to_owned(), bare, ssh: None }
    }

    /// For calls that may reach another machine.
    pub fn over_network(mut self, env: &Environment) -> Git {
        let set = ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| env.get(name).is_some());
        if !set && self.run(&["config", "--get", "core.sshCommand"]).is_err() {
            self.ssh = Some("ssh -oBatchMode=yes");
        }
        self
    }

    /// What git prints; its complaint as the error.
    pub fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, CommandError> {
        self.run_with(arguments, b"")
    }

    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, CommandError> {
        let mut command = Command::new("git");
        command.args(GIT_GUARDS.iter().flat_map(|guard| ["-c", guard]));
        command.args(self.bare.then_some("--git-dir=.")).args(arguments);
        command.current_dir(&self.directory);
        for variable in GIT_FOREIGN {
            command.env_remove(variable);
        }
        // A relative entry would find a program of the project.
        command.envs(absolute_path_entries().map(|path| ("PATH", path)));
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "").env("LC_ALL", "C");
        if let Some(ssh) = self.ssh {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let cannot = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound if self.directory.is_dir() => {
                CommandError::setup("git is not installed, or not on PATH: install it")
            }
            _ => CommandError::setup(format!("git cannot be started: {e}")),
        };
        let mut child = command.spawn().map_err(cannot)?;
        let output = match child.stdin.take() {
            // No thread: one that is just ending would still be there when a run begins.
            None => child.wait_with_output(),
            // From a thread of its own: git may print before it has read everything.
            Some(mut pipe) => std::thread::scope(|scope| {
                let write = move || {
                    // A git that does not read it reports why on stderr.
                    let _ = pipe.write_all(input);
                };
                let writing = std::thread::Builder::new().spawn_scoped(scope, write);
                // Without the thread git gets no input, and ends by itself.
                child.wait_with_output().and_then(|output| writing.map(|_| output))
            }),
        };
        let output = output.map_err(cannot)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message: Vec<String> = stderr.trim().lines().map(clean).collect();
        let is_word = |a: &&&str| a.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let options = |a: &&&str| a.starts_with('-') || a.contains('=');
        let what = arguments.iter().filter(|a| !options(a)).find(is_word);
        let git = what.map_or("git".to_owned(), |what| format!("git {what}"));
        Err(CommandError::setup(format!("{git}: {}", message.join("\n"))))
    }
}

/// Whether git would take a directory for a repository without a working tree.
pub fn is_git_directory(directory: &Path) -> bool {
    let own = directory.file_name().is_some_and(|name| name == ".git");
    let has = |name: &str| directory.join(name).exists();
    !own && directory.join("HEAD").is_file() && has("objects") && has("refs")
}

/// The working tree of another repository in which a git directory lies.
pub fn tree_around(directory: &Path) -> Option<PathBuf> {
    let real = directory.canonicalize().ok()?;
    let is_own = |link: &Path| link_target(link).is_some_and(|target| target == real);
    let other = |above: &&Path| above.join(".git").exists() && !is_own(&above.join(".git"));
    real.ancestors().skip(1).find(other).map(Path::to_owned)
}

/// Where a file `.git` leads.
pub fn link_target(link: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(link).ok()?;
    let target = text.strip_prefix("gitdir: ")?.trim_end();
    link.parent()?.join(target).canonicalize().ok()
}

//! Asks another program for its version. It runs in a group of its own, outside the working tree,
//! without input, and is ended when it takes too long. An answer is one line, or why there is none.

use crate::terminal::format::{clean, last_line};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use towpath_tool::{Observation, ProcessEnd, captured_text, judge};

const VERSION_FLAG: &str = "--version";

/// A large agent takes two seconds on a cold disk, and more on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
/// What was printed before the end has arrived by then.
const TRAILING: Duration = Duration::from_millis(300);
/// Whatever prints more than this does not print its version.
const MOST: usize = 64 * 1024;

/// A program that is asked for its version.
#[derive(Debug)]
pub struct VersionQuery {
    pub program: PathBuf,
    answer: Receiver<Result<String, String>>,
}

pub fn query(program: &Path) -> VersionQuery {
    let (send, answer) = channel();
    let path = program.to_owned();
    // Without a thread there is no answer, and `answer` reports that.
    let _ = std::thread::Builder::new().spawn(move || {
        // An answer that comes too late has no receiver.
        let _ = send.send(version(&path, PATIENCE));
    });
    VersionQuery { program: program.to_owned(), answer }
}

/// A program that is there and not started: it would unpack itself, or leave files behind.
pub fn unasked(program: &Path) -> VersionQuery {
    let (send, answer) = channel();
    let _ = send.send(Ok("installed; not asked for its version".to_owned()));
    VersionQuery { program: program.to_owned(), answer }
}

/// The same at once. No thread is started: a run may begin after it.
pub fn version_now(program: &Path) -> Result<String, String> {
    version(program, PATIENCE)
}

impl VersionQuery {
    pub fn answer(&self) -> Result<String, String> {
        self.answer.recv().unwrap_or_else(|_| Err("it could not be asked".to_owned()))
    }
}

/// The numbers in a version: `2.1.325 (Claude Code)` is (2, 1, 325).
pub fn numbers(line: &str) -> Option<(u64, u64, u64)> {
    let version =
        line.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = version.split(['.', '-', '+']).map(str::parse);
    let mut next = || parts.next()?.ok();
    Some((next()?, next()?, next().unwrap_or(0)))
}

fn version(program: &Path, patience: Duration) -> Result<String, String> {
    let Printed { status, stdout, stderr } = printed(program, patience)?;
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let first = stdout.lines().map(str::trim).find(|line| !line.is_empty()).map(clean);
    match (status.success(), first) {
        (true, Some(line)) => Ok(line),
        (true, None) => Err("it does not print a version".to_owned()),
        (false, _) => {
            let last = last_line(&stderr);
            let why = if last.is_empty() { String::new() } else { format!(": {last}") };
            Err(format!("it fails ({status}){why}"))
        }
    }
}

/// The version of a tool, whatever it prints around it. No thread is started: a run may begin after it.
pub fn tool_version(name: &str, program: &Path) -> Result<String, String> {
    let Printed { status, stdout, stderr } = printed(program, PATIENCE)?;
    let end = match (status.code(), status.signal()) {
        (Some(code), _) => ProcessEnd::Exited(code),
        (None, signal) => ProcessEnd::Signaled(signal.unwrap_or_default()),
    };
    let observation = Observation {
        stdout: captured_text(&stdout),
        stderr: captured_text(&stderr),
        ..Observation::new(name, &[VERSION_FLAG], end)
    };
    let judgement = judge(&observation);
    judgement.version_found.ok_or_else(|| match status.success() {
        true => format!("`{name} {VERSION_FLAG}` does not print it"),
        false => format!("`{name} {VERSION_FLAG}` fails ({status})"),
    })
}

/// What a program printed when it was asked for its version.
struct Printed {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

fn printed(program: &Path, patience: Duration) -> Result<Printed, String> {
    let mut command = Command::new(program);
    command.arg(VERSION_FLAG).current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("it cannot be started: {e}"))?;
    let mut stdout = Pipe::new(child.stdout.take().map(OwnedFd::from));
    let mut stderr = Pipe::new(child.stderr.take().map(OwnedFd::from));
    let mut end = Instant::now() + patience;
    let mut status = None;
    // An orphan process may keep a pipe open: its end is not waited for.
    while status.is_none() || stdout.is_open() || stderr.is_open() {
        if Instant::now() >= end {
            break;
        }
        wait_for_output(&stdout, &stderr);
        stdout.read();
        stderr.read();
        if status.is_none() {
            status = child.try_wait().map_err(|e| format!("it cannot be waited for: {e}"))?;
            if status.is_some() {
                end = end.min(Instant::now() + TRAILING);
            }
        }
    }
    let Some(status) = status else {
        // It is not reaped yet, so that its number is still its own, and its group's.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let _ = child.wait();
        return Err(format!("it did not answer within {} s", patience.as_secs()));
    };
    Ok(Printed { status, stdout: stdout.text, stderr: stderr.text })
}

/// A pipe that is read without waiting, until it ends.
struct Pipe {
    end: Option<OwnedFd>,
    text: Vec<u8>,
}

impl Pipe {
    fn new(end: Option<OwnedFd>) -> Pipe {
        let end = end.filter(|end| ioctl_fionbio(end, true).is_ok());
        Pipe { end, text: Vec::new() }
    }

    fn is_open(&self) -> bool {
        self.end.is_some()
    }

    fn read(&mut self) {
        let mut piece = [0; 4096];
        while let Some(end) = &self.end {
            match rustix::io::read(end, &mut piece) {
                Ok(length) if length > 0 && self.text.len() < MOST => {
                    self.text.extend_from_slice(&piece[..length]);
                }
                Err(Errno::AGAIN | Errno::INTR) => return,
                _ => self.end = None,
            }
        }
    }
}

/// Returns when a pipe can be read, or after a moment.
fn wait_for_output(stdout: &Pipe, stderr: &Pipe) {
    let open = [stdout, stderr].into_iter().filter_map(|pipe| pipe.end.as_ref());
    let mut open: Vec<PollFd<'_>> = open.map(|end| PollFd::new(end, PollFlags::IN)).collect();
    // However it ends, the pipes are read and the time is looked at.
    let _ = poll(&mut open, Some(&PAUSE));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn asked(script: &str, patience: Duration) -> (tempfile::TempDir, Result<String, String>) {
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join("agent");
        let script = format!("#!/bin/sh\ncd {}\n{script}\n", directory.path().display());
        std::fs::write(&program, script).expect("a program");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let answer = version(&program, patience);
        (directory, answer)
    }

    #[test]
    fn the_first_line_is_the_answer() {
        let (_, answer) = asked("printf '\\n 2.1 \\033[31m(beta)\\nmore\\n'", PATIENCE);
        assert_eq!(answer, Ok("2.1 \u{fffd}[31m(beta)".to_owned()));
        let (_, answer) = asked("echo no such option >&2; exit 3", PATIENCE);
        assert_eq!(answer, Err("it fails (exit status: 3): no such option".to_owned()));
        let (_, answer) = asked("exit 0", PATIENCE);
        assert_eq!(answer, Err("it does not print a version".to_owned()));
    }

    #[test]
    fn the_version_of_a_tool_is_read_from_what_it_prints() {
        let (directory, _) = asked("echo jq-1.6", PATIENCE);
        let program = directory.path().join("agent");
        assert_eq!(tool_version("jq", &program), Ok("1.6".to_owned()));
        let (directory, _) = asked("echo 'agent: unknown option --version' >&2; exit 2", PATIENCE);
        let refused = tool_version("agent", &directory.path().join("agent"));
        assert_eq!(refused, Err("`agent --version` fails (exit status: 2)".to_owned()));
        let (directory, _) = asked("echo hello", PATIENCE);
        let refused = tool_version("agent", &directory.path().join("agent"));
        assert_eq!(refused, Err("`agent --version` does not print it".to_owned()));
    }

    #[test]
    fn whatever_prints_without_end_is_ended() {
        let (_, answer) = asked("while :; do echo 1.0; done", Duration::from_secs(20));
        assert!(answer.is_err_and(|why| why.starts_with("it fails")), "its pipe was closed");
    }

    #[test]
    fn a_version_has_numbers() {
        assert_eq!(numbers("2.1.325 (Claude Code)"), Some((2, 1, 325)));
        assert_eq!(numbers("codex-cli 0.166.0-beta.1"), Some((0, 166, 0)));
        assert_eq!(numbers("v1"), None);
    }

    #[test]
    fn one_that_hangs_is_ended_with_its_children() {
        let script = "sleep 60 & echo $! > pid; wait";
        let (directory, answer) = asked(script, Duration::from_secs(1));
        assert_eq!(answer, Err("it did not answer within 1 s".to_owned()));
        let pid = std::fs::read_to_string(directory.path().join("pid")).expect("a child");
        let stat = format!("/proc/{}/stat", pid.trim());
        let lives = || std::fs::read_to_string(&stat).is_ok_and(|s| !s.contains(") Z "));
        let end = Instant::now() + Duration::from_secs(5);
        while lives() {
            assert!(Instant::now() < end, "the child is still alive");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_daemon_that_keeps_the_pipe_open_delays_nothing() {
        let (directory, answer) = asked("setsid sleep 30 & echo $! > pid; echo 1.0", PATIENCE);
        let pid = std::fs::read_to_string(directory.path().join("pid")).expect("a child");
        let _ = Command::new("kill").arg(pid.trim()).status();
        assert_eq!(answer, Ok("1.0".to_owned()));
    }
}

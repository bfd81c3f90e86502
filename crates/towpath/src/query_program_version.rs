//! Asks another program for its version. It runs in a group of its own, outside the working tree,
//! without input, and is ended when it takes too long. An answer is one line, or why there is none.

use crate::terminal::format::{clean, last_line};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A large agent takes two seconds on a cold disk, and more on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);
/// What was printed before the end has arrived by then.
const TRAILING: Duration = Duration::from_millis(300);
/// Whatever prints more than this does not print its version.
const MOST: u64 = 64 * 1024;

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
    let mut command = Command::new(program);
    command.arg("--version").current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("it cannot be started: {e}"))?;
    let (stdout, stderr) = (follow(child.stdout.take()), follow(child.stderr.take()));
    let end = Instant::now() + patience;
    let status = wait(&mut child, end)
        .ok_or_else(|| format!("it did not answer within {} s", patience.as_secs()))?;
    let (stdout, stderr) = (received(&stdout), received(&stderr));
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

/// What a stream prints, piece by piece, until it ends.
fn follow(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    if let Some(stream) = stream {
        let _ = std::thread::Builder::new().spawn(move || {
            let mut stream = stream.take(MOST);
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                if send.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
    }
    receive
}

/// All that a program has printed. An orphan process may keep the pipe open: its end is not waited
/// for.
fn received(pieces: &Receiver<Vec<u8>>) -> String {
    let end = Instant::now() + TRAILING;
    let mut all = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(end.saturating_duration_since(Instant::now())) {
        all.extend(piece);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// None when it had to be ended.
fn wait(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(PAUSE),
            _ => break,
        }
    }
    // It is not reaped yet, so that its number is still its own, and its group's.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
    None
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
            std::thread::sleep(PAUSE);
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

//! What is left of an agent call whose owner was killed with SIGKILL.

use crate::agent_answers::{backend, call, recorded};
use crate::support::{Seen, alarm, open, until};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
use tempfile::TempDir;
use towpath_core::Secrets;
use towpath_executor::{
    Acquire, EndStatus, Executor as _, InterruptedCall, JobId, LocalRecovery, Recovered,
    Recovery as _, RunLock,
};

/// The argument that makes this program the owner of the run in a directory.
pub const OWNER: &str = "--as-owner";

/// Makes a call whose program prints `lines` and never ends.
pub fn own(directory: &str) -> ExitCode {
    alarm();
    let directory = Path::new(directory);
    let agents = backend("codex", directory, "cat lines; touch printed; sleep 1000");
    let (mut executor, _lock) = open(directory, agents);
    executor.start(call(directory, 1, "do it")).expect("a call");
    Seen::default().end_of(&mut executor, 1);
    ExitCode::FAILURE
}

/// Kills the owner of a call that has printed these lines, and recovers the call.
fn recovered(lines: &str) -> (Option<Recovered>, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("lines"), lines).unwrap();
    let own = std::env::current_exe().unwrap();
    let mut owner = Command::new(own).arg(OWNER).arg(directory.path()).spawn().unwrap();
    let printed = directory.path().join("printed");
    let output = directory.path().join("1.stdout");
    until("the program has printed its lines", || {
        printed.exists() && fs::read_to_string(&output).is_ok_and(|text| text == lines)
    });
    owner.kill().unwrap();
    owner.wait().unwrap();
    // The warden has the lock until it has ended everything.
    let lock = RunLock::wait_acquire(&directory.path().join("lock"), Duration::from_secs(60));
    assert!(matches!(lock.unwrap(), Acquire::Acquired(_)), "the warden is gone");
    let recovery =
        LocalRecovery { run_directory: directory.path().to_owned(), secrets: Secrets::default() };
    let call = InterruptedCall {
        job: JobId(1),
        key: "s1#1.0.0:agent".parse().unwrap(),
        backend: "codex".into(),
    };
    (recovery.recover(&call).unwrap(), directory)
}

pub fn a_complete_answer_of_a_killed_owner_is_recovered() {
    let lines = recorded("codex");
    let (recovered, directory) = recovered(&lines);
    let Recovered { finished, printed_ms } = recovered.expect("a complete answer");
    assert_eq!((finished.job, finished.status), (JobId(1), EndStatus::Exited(0)));
    assert_eq!(finished.answer.as_deref(), Some("Hello.\n{\"outcome\": \"ok\"}"));
    assert!(printed_ms.is_some_and(|ms| ms > 0));
    let output = directory.path().join(finished.stdout);
    assert_eq!(fs::read_to_string(output).unwrap(), lines, "what it printed is kept");
}

pub fn an_incomplete_answer_is_not() {
    let lines = recorded("codex");
    let begun: Vec<&str> = lines.lines().collect();
    let (recovered, _directory) = recovered(&(begun[..begun.len() - 1].join("\n") + "\n"));
    assert_eq!(recovered, None);
}

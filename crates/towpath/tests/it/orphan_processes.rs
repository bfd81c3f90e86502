//! Nothing escapes: whatever a job does to get away, it is gone after its run has ended, timed out,
//! was interrupted, or after `kill -9` of its runner or of its warden. What is left is found by a
//! file lock that every process of the step has open: it can be taken when the last of them is gone.

use crate::support::{Signal, User, kill_hard, signal, signal_to, until, warden_of};
use rustix::fs::{FlockOperation, flock};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Ways to get away, as bash. Each leaves the file `ready` when it is on its way; `escaper` is the
/// program beside this file.
const WAYS: &[(&str, &str)] = &[
    ("a session of its own", "setsid bash -c 'touch ready; sleep 600' &"),
    ("a double fork", "( ( bash -c 'touch ready; exec sleep 600' & ) & )"),
    ("setsid -f under nohup", "nohup setsid -f bash -c 'touch ready; sleep 600'"),
    (
        "sessions in sessions",
        "( setsid bash -c '( setsid bash -c \"touch ready; sleep 600\" & )' & )",
    ),
    (
        "deaf to signals",
        "bash -c 'trap \"\" TERM INT HUP; touch ready; while :; do sleep 1; done' &",
    ),
    ("with the pipes open", "sleep 600 & touch ready"),
    ("an empty environment", "env -i /bin/bash -c 'touch ready; sleep 600' &"),
    ("forks in a loop", "bash -c 'for i in $(seq 150); do (sleep 600 &) ; done; touch ready' &"),
    ("a chain of forks", "escaper chain &"),
    ("a chain that never rests", "escaper fast &"),
    ("a chain that changes its name and group", "escaper renamed &"),
    ("a chain of clones", "escaper clone &"),
    ("a daemon without an environment", "escaper bare &"),
    ("no open file", "escaper closed &"),
    ("fifty processes", "escaper many &"),
    ("twins that replace each other", "escaper twins &"),
    ("stopped", "escaper stopped &"),
    ("stopping the warden", "escaper stops-parent &"),
    ("a process whose first thread has ended", "escaper headless &"),
    ("traced", "escaper traced &"),
    ("a chain below a reaper of its own", "escaper reaper &"),
];

/// The directory of the compiled `escaper`.
fn programs() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a directory");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/orphan_processes/escaper.c");
        let program = directory.path().join("escaper");
        let cc = Command::new("cc").args(["-O1", "-pthread", source, "-o"]).arg(&program).status();
        assert!(cc.expect("a C compiler").success(), "{source} compiles");
        directory
    });
    made.path()
}

fn recipe(way: &str, timeout: &str) -> String {
    format!(
        "name: escape\nsteps:\n  - id: away\n{timeout}    command: |\n      \
         exec 9< alive; flock -s 9\n      \
         {way}\n      \
         until [ -e ready ]; do sleep 0.01; done\n      \
         touch away\n      \
         [ -e end ] || sleep 600\n"
    )
}

fn prepare(way: &str, timeout: &str) -> (User, String) {
    let user = User::new().file("escape.yaml", &recipe(way, timeout)).file("alive", "");
    let path = std::env::var("PATH").expect("a PATH");
    (user, format!("{}:{path}", programs().display()))
}

fn begin(way: &str) -> (User, std::process::Child) {
    let (user, path) = prepare(way, "");
    let mut command = user.command(&["run", "escape.yaml"]);
    command.env("PATH", path).stdout(std::process::Stdio::null());
    let runner = command.stderr(std::process::Stdio::null()).spawn().expect("towpath starts");
    until("the child is away", || user.path("work/away").exists());
    assert!(!is_free(&user), "{way}: it is alive");
    (user, runner)
}

/// Whether no process of the step is left.
fn is_free(user: &User) -> bool {
    let file = std::fs::File::open(user.path("work/alive")).expect("the lock's file");
    flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Half of the ways at once: most of the time each waits.
fn each(check: fn(&str, &str)) {
    programs();
    for some in WAYS.chunks(WAYS.len().div_ceil(2)) {
        std::thread::scope(|scope| {
            for (name, way) in some {
                scope.spawn(move || check(name, way));
            }
        });
    }
}

#[test]
fn no_process_is_left_after_kill_9_of_the_runner() {
    each(|name, way| {
        let (user, mut runner) = begin(way);
        kill_hard(&mut runner);
        until(name, || is_free(&user));
    });
}

#[test]
fn no_process_is_left_after_kill_9_of_the_warden() {
    each(|name, way| {
        let (user, mut runner) = begin(way);
        signal_to(warden_of(&runner), Signal::KILL);
        let code = runner.wait().expect("the runner ends").code();
        assert_eq!(code, Some(5), "{name}: the runner reports that its warden is gone");
        assert!(is_free(&user), "{name}: the runner leaves nothing");
    });
}

#[test]
fn no_process_is_left_after_ctrl_c() {
    each(|name, way| {
        let (user, mut runner) = begin(way);
        signal(&runner, Signal::INT);
        assert_eq!(runner.wait().expect("the runner ends").code(), Some(130), "{name}");
        assert!(is_free(&user), "{name}");
    });
}

#[test]
fn no_process_is_left_after_the_end_of_the_run() {
    each(|name, way| {
        let (user, path) = prepare(way, "");
        user.write("end", "");
        let output = user.command(&["run", "escape.yaml"]).env("PATH", path).output();
        let printed = crate::support::Printed::from(output.expect("towpath starts")).exits(0);
        assert!(is_free(&user), "{name}");
        assert!(
            printed.stderr.contains("processes ended, with the run: "),
            "{name}: what was ended is named: {}",
            printed.stderr
        );
    });
}

#[test]
fn no_process_is_left_after_a_timeout() {
    each(|name, way| {
        // Behind the step that times out comes one that sees what is left of it.
        let (user, path) = prepare(way, "    timeout: 1\n    continue_on_error: true\n");
        let mut recipe = user.read("escape.yaml");
        recipe.push_str("  - id: after\n    command: flock -n alive echo nothing is left\n");
        user.write("escape.yaml", &recipe);
        let output = user.command(&["run", "escape.yaml"]).env("PATH", path).output();
        let printed = crate::support::Printed::from(output.expect("towpath starts"));
        assert!(printed.stdout.contains("nothing is left"), "{name}: {printed:?}");
        printed.exits(0).reports("timed out after 1 s");
    });
}

/// A chain gets past a single look at the list of processes often, but not always: each way is tried
/// several times at once.
#[test]
fn no_process_is_left_after_a_timeout_while_another_step_runs() {
    programs();
    for name in ["a chain of forks", "a chain that changes its name and group", "fifty processes"] {
        let (_, way) = WAYS.iter().find(|(n, _)| *n == name).expect("a way");
        std::thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(|| is_gone_while_another_step_runs(name, way));
            }
        });
    }
}

/// The other step, which keeps running, sees that nothing of the first is left.
fn is_gone_while_another_step_runs(name: &str, way: &str) {
    let group = "    parallel_group: g\n";
    // Long enough to get away on a busy machine.
    let options = format!("    timeout: 5\n    continue_on_error: true\n{group}");
    let (user, path) = prepare(way, &options);
    let witness = "until [ -e away ] && flock -n alive echo nothing is left; do sleep 0.1; done";
    let mut recipe = user.read("escape.yaml");
    recipe
        .push_str(&format!("  - id: witness\n    timeout: 60\n{group}    command: '{witness}'\n"));
    user.write("escape.yaml", &recipe);
    let output = user.command(&["run", "escape.yaml"]).env("PATH", path).output();
    let printed = crate::support::Printed::from(output.expect("towpath starts")).exits(0);
    assert!(printed.stdout.contains("nothing is left"), "{name}: {printed:?}");
    printed.reports("timed out after 5 s");
}

#[test]
fn after_kill_9_of_runner_and_warden_a_cancel_ends_the_orphan_processes() {
    for name in ["a session of its own", "a chain of forks", "twins that replace each other"] {
        let (_, way) = WAYS.iter().find(|(n, _)| *n == name).expect("a way");
        let (user, mut runner) = begin(way);
        // Stopped first, so that neither sees the end of the other.
        signal(&runner, Signal::STOP);
        let warden = warden_of(&runner);
        signal_to(warden, Signal::STOP);
        signal_to(warden, Signal::KILL);
        kill_hard(&mut runner);
        user.towpath(&["cancel", user.run().as_str()]).exits(0);
        assert!(is_free(&user), "{name}");
    }
}

#[test]
fn a_step_that_stops_its_warden_continues_and_can_be_timed_out() {
    let recipe = "name: stop\nsteps:\n  - id: on\n    command: kill -STOP $PPID; echo continued\n  \
                  - id: out\n    timeout: 1\n    command: kill -STOP $PPID; exec sleep 600\n";
    let user = User::new().file("stop.yaml", recipe);
    let printed = user.towpath(&["run", "stop.yaml"]).exits(1).reports("timed out after 1 s");
    printed.shows("continued");
}

#[test]
fn a_cancel_ends_a_run_whose_runner_or_warden_is_stopped() {
    for (runner_stops, warden_stops) in [(true, false), (false, true), (true, true)] {
        let (user, mut runner) = begin("touch ready");
        let warden = warden_of(&runner);
        if warden_stops {
            signal_to(warden, Signal::STOP);
        }
        if runner_stops {
            signal(&runner, Signal::STOP);
        }
        let printed = user.towpath(&["cancel", user.run().as_str()]).exits(0);
        printed.shows("is cancelled");
        assert_eq!(runner.wait().expect("it ends").code(), Some(143));
        assert!(is_free(&user));
    }
}

/// Nobody is left to continue the warden: whoever wants the run does.
#[test]
fn a_stopped_warden_of_a_dead_runner_does_not_block_the_run() {
    for command in ["resume", "cancel"] {
        let (user, mut runner) = begin("touch ready");
        let warden = warden_of(&runner);
        signal_to(warden, Signal::STOP);
        kill_hard(&mut runner);
        // The end of the runner has continued it; it is stopped again before it has ended.
        signal_to(warden, Signal::STOP);
        user.write("end", "");
        user.towpath(&[command, user.run().as_str()]).exits(0);
        assert!(is_free(&user));
    }
}

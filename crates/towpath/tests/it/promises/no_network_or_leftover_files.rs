//! Side effects: nothing is lost without a message, nothing is left behind, nobody is asked over the network.

use crate::support::User;
use std::fs;
use std::io::Write as _;
use std::process::Command;

pub const HELLO: &str = "name: hello\nsteps:\n  - {id: greet, command: echo hello}\n";

#[test]
fn a_full_disk_behind_stdout_is_an_error_with_a_code_of_the_name() {
    let user = User::new().file("hello.yaml", HELLO);
    for (name, code) in [(&["run"][..], 5), (&["as", "recipe-runner-rs"], 1)] {
        for format in [&["hello.yaml"][..], &["hello.yaml", "--dry-run"]] {
            let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
            let mut command = user.command(&[name, format].concat());
            let made = command.stdout(full).output().expect("it starts");
            let reported = String::from_utf8_lossy(&made.stderr);
            assert_eq!(made.status.code(), Some(code), "{name:?} {format:?}: {reported}");
            assert!(
                reported.contains("No space left on device") && !reported.contains("panicked"),
                "{reported}"
            );
        }
    }
}

#[test]
fn nothing_is_left_in_the_temporary_directory() {
    let recipe = "name: r\ncontext: {v: x}\nsteps:\n  - {id: a, command: 'echo {{v}}'}\n  - {id: b, command: exit 3}\n";
    let user = User::new().file("r.yaml", recipe);
    fs::create_dir(user.path("tmp")).expect("a folder");
    let mut command = user.command(&["as", "recipe-runner-rs", "r.yaml", "--progress"]);
    assert_eq!(
        command.env("TMPDIR", user.path("tmp")).status().expect("it starts").code(),
        Some(1)
    );
    assert_eq!(fs::read_dir(user.path("tmp")).expect("a folder").count(), 0);
}

#[test]
fn a_run_opens_no_connection() {
    let user = User::new().file("hello.yaml", HELLO);
    let trace = user.path("trace");
    let plain = user.command(&["as", "recipe-runner-rs", "hello.yaml"]);
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "trace=socket,execve", "-o"]).arg(&trace);
    command.arg(plain.get_program()).args(plain.get_args()).current_dir(user.path("work"));
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let made = command.output();
    if !made.as_ref().is_ok_and(|o| o.status.success()) {
        let _ = writeln!(std::io::stderr(), "SKIPPED a_run_opens_no_connection: {made:?}");
        return;
    }
    let seen = fs::read_to_string(trace).expect("a trace");
    assert!(seen.contains("execve("), "{seen}");
    let outside = seen.lines().filter(|line| line.contains("socket(") && !line.contains("AF_UNIX"));
    assert_eq!(outside.collect::<Vec<_>>(), [""; 0]);
}

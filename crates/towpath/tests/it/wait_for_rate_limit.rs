//! Limits: a run waits by itself with `--wait`, and whoever ends the waiting process loses nothing.

use crate::support::{Printed, Signal, User, kill_hard, signal, until};
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

const RECIPE: &str = "
name: l
steps:
  - {id: a, prompt: first}
  - {id: b, prompt: second}
  - {id: c, command: 'echo done by {{b}} >> effects'}
";

/// Unix seconds, so many from now.
pub fn soon(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    now.as_secs() as i64 + seconds
}

pub fn limit(until: i64) -> String {
    format!("{{\"error\":\"limit\",\"until\":{until}}}\n")
}

pub fn user(script: &str) -> User {
    User::new().file("l.yaml", RECIPE).file("s.jsonl", script)
}

pub const RUN: [&str; 7] = ["run", "l.yaml", "--script", "s.jsonl", "--calls", "calls", "-q"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    RUN.iter().chain(more).copied().collect()
}

pub fn status(user: &User) -> String {
    user.store().run(&user.run()).expect("a row").expect("a run").summary.status.as_str().to_owned()
}

/// A run that waits while a process of ours sits it out.
fn sitting(user: &User) -> std::process::Child {
    let runner = user.start(&with(&["--wait"]));
    until("the run waits", || user.has_journal() && status_is(user, "waiting"));
    until("it waits itself", || waits(runner.id()));
    runner
}

#[test]
fn a_run_waits_for_each_limit_and_is_one_run() {
    // Each limit comes after a step that is done: the second is as good as the first.
    let script = format!("{}\"one\"\n{}\"two\"\n", limit(soon(1)), limit(soon(1)));
    let user = user(&script);
    let printed = user.towpath(&["run", "l.yaml", "--script", "s.jsonl", "--wait"]).exits(0);
    assert_eq!(printed.stdout, "one\ntwo\n");
    let waits = printed.stderr.matches("waits for the agent's rate limit until ").count();
    assert_eq!(waits, 2, "{}", printed.stderr);
    assert!(printed.stderr.contains("then continues (run "), "{}", printed.stderr);
    assert_eq!(user.read("effects"), "done by two\n");
    assert_eq!(user.runs(), 1);
}

#[test]
fn with_json_there_is_one_object_at_the_end() {
    let user = user(&format!("\"one\"\n{}\"two\"\n", limit(soon(1))));
    let reported = user.towpath(&with(&["--wait", "--json", "--with-context"])).exits(0).json();
    assert_eq!(reported["status"], "done");
    assert_eq!(reported["summary"]["completed"], 3);
    assert_eq!(reported["context"]["b"], "two");
}

#[test]
fn ctrl_c_while_it_waits_leaves_it_waiting() {
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let user = user(&format!("\"one\"\n{}\"two\"\n", limit(soon(3600))));
        let mut command = user.command(&with(&["--wait", "--json"]));
        let runner = command.stdout(Stdio::piped()).spawn().expect("towpath starts");
        until("the run waits", || user.has_journal() && status_is(&user, "waiting"));
        until("it waits itself", || waits(runner.id()));
        signal(&runner, sent);
        let printed = Printed::from(runner.wait_with_output().expect("it ends")).exits(code);
        assert_eq!(printed.json()["error"]["kind"], "left-waiting");
        assert!(printed.stderr.contains("is left waiting; to resume: towpath resume"));
        assert_eq!(status(&user), "waiting");
        user.towpath(&["resume", "--last"]).exits(0);
        assert_eq!(user.read("calls").lines().count(), 3);
    }
}

fn status_is(user: &User, wanted: &str) -> bool {
    user.runs() == 1 && status(user) == wanted
}

/// Whether the process that ran is the one that waits by now, and has the run.
fn waits(pid: u32) -> bool {
    let words = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let has_lock =
        open.filter_map(|file| file.path().read_link().ok()).any(|f| f.ends_with("lock"));
    has_lock && words.is_ok_and(|words| words.contains("--in-vain"))
}

#[test]
fn a_run_that_is_killed_while_it_waits_can_be_resumed() {
    let user = user(&format!("\"one\"\n{}\"two\"\n", limit(soon(3600))));
    let mut runner = sitting(&user);
    user.towpath(&["resume", "--last"]).exits(5).reports("is owned by process");
    kill_hard(&mut runner);
    let printed = user.towpath(&["runs"]).exits(0);
    assert!(printed.stdout.contains("waiting"), "{}", printed.stdout);
    user.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(user.read("effects"), "done by two\n");
}

#[test]
fn a_run_that_is_waited_for_is_cancelled_from_another_terminal() {
    let user = user(&format!("\"one\"\n{}\"two\"\n", limit(soon(3600))));
    let mut runner = sitting(&user);
    let run = user.run().to_string();
    let printed = user.towpath(&["cancel", &run]).exits(0);
    assert_eq!(printed.stdout, format!("run {run} is cancelled\n"));
    assert_eq!(runner.wait().expect("it ends").code(), Some(143));
    assert_eq!(status(&user), "cancelled");
}

#[test]
fn a_limit_without_an_end_is_waited_for_and_reported_so() {
    let user = user("\"one\"\n{\"error\":\"limit\"}\n\"two\"\n");
    let mut runner = sitting(&user);
    kill_hard(&mut runner);
    // A user who types the command wants a try now.
    user.towpath(&["resume", "--last", "--wait"]).exits(0);
    assert_eq!(user.read("effects"), "done by two\n");
}

#[test]
fn a_resume_that_waits_makes_no_call_before_the_limit_is_over() {
    let user = user(&format!("\"one\"\n{}\"two\"\n", limit(soon(2))));
    user.towpath(&RUN).exits(75);
    let printed = user.towpath(&["resume", "--last", "--wait"]).exits(0).reports("until ");
    assert_eq!(printed.stdout, "two\n");
    assert_eq!(user.read("calls").lines().count(), 3);
    assert!(soon(0) >= soon_from(&user), "it did not wait");
}

/// The second at which the limit of the script ends.
fn soon_from(user: &User) -> i64 {
    let script = user.read("s.jsonl");
    let digits: String = script.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("the script has one number")
}

/// What may pass: an overloaded service, and a login that worked before and is refused, as where a
/// timer has no key in its environment.
pub const OVERLOADED: &str = "{\"error\":\"overloaded\",\"text\":\"529 busy\"}\n";
pub const REFUSED: &str = "{\"error\":\"auth\",\"text\":\"Not logged in\"}\n";

/// Tries again at once, as far as a run is concerned.
pub fn hasty(user: &User) {
    let file = user.path("home/config/settings.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(file, "retry_wait = 0.001\n").expect("settings");
}

/// The same with a process that waits by itself. A login that never worked is reported at once.
#[test]
fn a_run_that_waits_by_itself_retries_temporary_faults() {
    let faults = [OVERLOADED, "\"one\"\n", REFUSED].concat();
    let user = user(&format!("{faults}\"two\"\n"));
    hasty(&user);
    let printed = user.towpath(&["run", "l.yaml", "--script", "s.jsonl", "--wait"]).exits(0);
    assert_eq!(printed.stdout, "one\ntwo\n");
    let printed = printed.reports("waits (agent: overloaded); next try at ");
    printed.reports("waits (agent: auth); next try at ");
    user.write("s.jsonl", REFUSED);
    user.towpath(&with(&["--wait"])).exits(4).reports("Not logged in");
    user.write("s.jsonl", OVERLOADED);
    user.towpath(&RUN).exits(4).reports("529 busy");
}

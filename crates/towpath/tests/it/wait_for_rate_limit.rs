//! Limits: a run waits by itself with `--wait`, or is resumed by a timer with `resume --due`, and
//! whoever ends the waiting process loses nothing.

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
fn soon(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    now.as_secs() as i64 + seconds
}

fn limit(until: i64) -> String {
    format!("{{\"error\":\"limit\",\"until\":{until}}}\n")
}

fn user(script: &str) -> User {
    User::new().file("l.yaml", RECIPE).file("s.jsonl", script)
}

const RUN: [&str; 7] = ["run", "l.yaml", "--script", "s.jsonl", "--calls", "calls", "-q"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    RUN.iter().chain(more).copied().collect()
}

fn status(user: &User) -> String {
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

#[test]
fn due_runs_are_resumed_one_after_the_other_in_their_own_directories() {
    let recipe = "name: l\nsteps:\n  - {id: a, prompt: x}\n  - {id: c, command: pwd >> effects}\n";
    let user = User::new();
    let lines = [("one", limit(1) + "\"1\"\n"), ("two", limit(2) + "\"2\"\n")];
    let later =
        [("later", limit(soon(3600)) + "\"3\"\n"), ("open", "{\"error\":\"limit\"}\n".into())];
    for (name, script) in lines.iter().chain(&later) {
        user.write(&format!("{name}/l.yaml"), recipe);
        user.write(&format!("{name}/s.jsonl"), script);
        let run = ["run", "l.yaml", "--script", "s.jsonl", "-q"];
        let mut command = user.command(&run);
        command.current_dir(user.path("work").join(name));
        Printed::from(command.output().expect("towpath starts")).exits(75);
    }
    let reported = user.towpath(&["resume", "--due", "--json"]).exits(0).json();
    let runs = reported["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 2, "{reported}");
    assert!(runs.iter().all(|run| run["exit_code"] == 0 && run["result"]["status"] == "done"));
    for (name, _) in &lines {
        let directory = user.path("work").join(name).canonicalize().expect("a directory");
        assert_eq!(user.read(&format!("{name}/effects")), format!("{}\n", directory.display()));
    }
    for (name, _) in &later {
        assert_eq!(user.read(&format!("{name}/effects")), "", "{name} is not due");
    }
    let printed = user.towpath(&["resume", "--due"]).exits(0).prints("");
    assert_eq!(printed.stderr, "", "nothing due, nothing printed");
}

#[test]
fn runs_of_another_process_are_skipped_and_the_worst_exit_code_is_returned() {
    let again = format!("{}\"one\"\n{}", limit(1), limit(soon(3600)));
    let user = user(&again);
    user.towpath(&RUN).exits(75);
    let lock = towpath_engine::lock_run(&user.store(), &user.run()).expect("nobody has it");
    let printed = user.towpath(&["resume", "--due"]).exits(0).prints("");
    assert_eq!(printed.stderr, "");
    drop(lock);
    // Who looks believes the name in the file as long as that process lives: this one does.
    let note = user.store().run_directory(&user.run()).join("lock");
    std::fs::write(note, "").expect("the name goes");
    user.towpath(&["resume", "--due", "-q"]).exits(75);
    // A second run that fails is worse than one that waits again.
    user.write("l.yaml", "name: l\nsteps:\n  - {id: a, prompt: x}\n  - {id: b, command: exit 3}\n");
    user.write("s.jsonl", &format!("{}\"one\"\n", limit(1)));
    user.towpath(&RUN).exits(75);
    user.towpath(&["resume", "--due"]).exits(1).reports("failed");
    std::fs::rename(user.path("work"), user.path("moved")).expect("a rename");
    std::fs::create_dir(user.path("work")).expect("a directory");
    user.towpath(&["resume", "--due"]).exits(0);
}

#[test]
fn a_signal_ends_the_current_run_and_no_other_is_started() {
    let slow =
        "name: l\nsteps:\n  - {id: a, prompt: x}\n  - {id: b, command: 'touch began; sleep 60'}\n";
    let user = User::new().file("l.yaml", slow).file("s.jsonl", &(limit(1) + "\"one\"\n"));
    user.towpath(&RUN).exits(75);
    user.towpath(&RUN).exits(75);
    let mut due = user.start(&["resume", "--due"]);
    until("the first has resumed", || user.path("work/began").exists());
    signal(&due, Signal::INT);
    assert_eq!(due.wait().expect("it ends").code(), Some(130));
    let rows = user.store().runs(&Default::default()).expect("the runs can be listed");
    let mut statuses: Vec<&str> = rows.iter().map(|row| row.summary.status.as_str()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["stopped", "waiting"]);
}

#[test]
fn a_run_whose_directory_is_gone_is_reported_with_what_to_do() {
    let user = user(&limit(1));
    user.write("away/l.yaml", "name: l\nsteps:\n  - {id: a, prompt: x}\n");
    let mut command = user.command(&["run", "l.yaml", "--script", "../s.jsonl"]);
    let output = command.current_dir(user.path("work/away")).output().expect("towpath starts");
    Printed::from(output).exits(75);
    std::fs::remove_dir_all(user.path("work/away")).expect("a directory to remove");
    user.towpath(&["resume", "--due"])
        .exits(5)
        .reports("is gone; to cancel the run: towpath cancel");
}

#[test]
fn an_empty_home_has_nothing_due_and_stays_empty() {
    let user = User::new();
    user.towpath(&["resume", "--due"]).exits(0).prints("");
    assert!(!user.path("home").exists());
    user.towpath(&["resume"]).exits(2);
    user.towpath(&["resume", "--due", "7f3k"]).exits(2);
}

/// What may pass: an overloaded service, and a login that worked before and is refused, as where a
/// timer has no key in its environment.
const OVERLOADED: &str = "{\"error\":\"overloaded\",\"text\":\"529 busy\"}\n";
const REFUSED: &str = "{\"error\":\"auth\",\"text\":\"Not logged in\"}\n";

/// Tries again at once, as far as a run is concerned.
fn hasty(user: &User) {
    let file = user.path("home/config/settings.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(file, "retry_wait = 0.001\n").expect("settings");
}

#[test]
fn temporary_faults_leave_a_due_run_waiting_with_the_reason() {
    for (fault, word, printed) in
        [(REFUSED, "auth", "Not logged in"), (OVERLOADED, "overloaded", "529 busy")]
    {
        let script = format!("\"one\"\n{}{fault}{fault}\"two\"\n", limit(1));
        let user = user(&script);
        user.towpath(&RUN).exits(75);
        let reported = user.towpath(&["resume", "--due", "--json"]).exits(75).json();
        let result = &reported["runs"][0]["result"];
        assert_eq!((&result["status"], &result["waiting_for"]), (&"waiting".into(), &word.into()));
        let run = user.run().to_string();
        let shown = user.towpath(&["show", &run, "--json"]).exits(0).json();
        assert_eq!(shown["waiting_for"], word);
        assert!(shown["waiting_until"].is_string(), "{shown:#}");
        user.towpath(&["show", &run]).exits(0).shows(&format!("agent: {word}; next try at "));
        let listed = user.towpath(&["runs"]).exits(0);
        assert!(listed.stdout.contains(&format!("{word} until ")), "{}", listed.stdout);
        let listed = user.towpath(&["runs", "--json"]).exits(0).json();
        assert_eq!(listed["runs"][0]["waiting_for"], word);
        // Not due yet: a minute has not passed.
        user.towpath(&["resume", "--due"]).exits(0).prints("");
        assert_eq!(user.read("calls").lines().count(), 3);
        // A user who types the command wants a try now, and sees the fault.
        user.towpath(&["resume", "--last"]).exits(4).reports(printed);
    }
}

#[test]
fn a_run_that_is_left_waiting_is_retried_until_it_works() {
    let faults = [REFUSED, OVERLOADED, REFUSED].concat();
    let user = user(&format!("\"one\"\n{}{faults}\"two\"\n", limit(1)));
    hasty(&user);
    user.towpath(&RUN).exits(75);
    until("every due try is made", || {
        user.towpath(&["resume", "--due", "-q"]);
        user.read("effects") == "done by two\n"
    });
    assert_eq!(user.read("calls").lines().count(), 6);
    assert_eq!(status(&user), "done");
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

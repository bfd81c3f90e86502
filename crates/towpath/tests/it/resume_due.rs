//! `resume --due`: runs that waited are resumed by a timer.

use crate::support::{Printed, Signal, User, signal, until};
use crate::wait_for_rate_limit::{OVERLOADED, REFUSED, RUN, hasty, limit, soon, status, user};

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

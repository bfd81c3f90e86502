//! `towpath resume`: what is kept, what is asked, what runs again. Real processes.

use crate::support::{Printed, Signal, User, kill_hard, lives, signal, until};

#[test]
fn a_second_and_a_third_resume_keep_all_earlier_work() {
    let recipe = "
name: three
steps:
  - id: a
    command: echo a >> effects
  - id: b
    command: echo b >> effects; [ -e b.ok ]
  - id: c
    command: echo c >> effects; [ -e c.ok ]
";
    let user = User::new().file("three.yaml", recipe);
    user.towpath(&["run", "three.yaml"]).exits(1);
    let run = user.run();
    let resume = ["resume", run.as_str()];
    user.towpath(&resume).exits(1);
    user.write("b.ok", "");
    let printed = user.towpath(&resume).exits(1);
    printed.reports(&format!("  nothing is lost: towpath resume {run}\n"));
    user.write("c.ok", "");
    user.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(user.read("effects"), "a\nb\nb\nb\nc\nc\n");
    user.towpath(&resume).exits(0).reports("is done");
    let object = user.towpath(&[&resume[..], &["--json"]].concat()).exits(0).json();
    assert_eq!((&object["success"], &object["status"]), (&true.into(), &"done".into()));
}

#[test]
fn a_group_resumes_only_what_did_not_finish() {
    let recipe = "
name: group
steps:
  - {id: a, command: echo a >> effects, parallel_group: g}
  - {id: b, command: 'echo b >> effects; [ -e ok ]', parallel_group: g}
  - {id: c, command: echo c >> effects, parallel_group: g}
  - {id: d, command: echo d >> effects}
";
    let user = User::new().file("group.yaml", recipe);
    user.towpath(&["run", "group.yaml"]).exits(1);
    user.write("ok", "");
    user.towpath(&["resume", "--last"]).exits(0);
    let mut effects: Vec<String> = user.read("effects").lines().map(str::to_owned).collect();
    effects.sort();
    assert_eq!(effects, ["a", "b", "b", "c", "d"]);
}

const ONCE: &str = "
name: pay
steps:
  - id: transfer
    effect: once
    command: echo paid >> ledger; [ -e quick ] || sleep 60; echo receipt
  - id: book
    command: echo booked {{transfer}}
";

fn interrupted_once() -> (User, String) {
    let user = User::new().file("pay.yaml", ONCE);
    let mut runner = user.start(&["run", "pay.yaml"]);
    until("the transfer has begun", || user.count("ledger", "paid") == 1);
    kill_hard(&mut runner);
    user.write("quick", "");
    let run = user.run().to_string();
    (user, run)
}

#[test]
fn an_interrupted_step_marked_once_is_asked_about_and_not_repeated() {
    let (user, run) = interrupted_once();
    for _ in 0..2 {
        let printed = user.towpath(&["resume", &run]).exits(10);
        for command in ["--done transfer", "--again transfer"] {
            assert!(
                printed.stderr.contains(&format!("towpath resume {run} {command}")),
                "{}",
                printed.stderr
            );
        }
    }
    assert_eq!(user.count("ledger", "paid"), 1);
    let printed =
        user.towpath(&["resume", &run, "--done", "transfer", "--output", "by phone"]).exits(0);
    assert_eq!(printed.stdout, "booked by phone\n");
    assert!(printed.stderr.ends_with(", 1 ran now\n"), "{}", printed.stderr);
    assert_eq!(user.count("ledger", "paid"), 1);
}

#[test]
fn a_step_marked_once_runs_again_when_the_user_asks() {
    let (user, run) = interrupted_once();
    let printed = user.towpath(&["resume", &run, "--again", "transfer"]).exits(0);
    assert_eq!(printed.stdout, "receipt\nbooked receipt\n");
    assert_eq!(user.count("ledger", "paid"), 2);
}

#[test]
fn an_output_may_come_from_a_file_and_wrong_steps_are_refused() {
    let (user, run) = interrupted_once();
    user.towpath(&["resume", &run, "--done", "nope"]).exits(2).reports("no step `nope`");
    user.towpath(&["resume", &run, "--done", "book"]).exits(2).reports("not waiting");
    user.towpath(&["resume", &run, "--again", "book"]).exits(2).reports("not run yet");
    user.write("receipt.txt", "from a file\n");
    let printed = user.towpath(&["resume", &run, "--done", "transfer", "--output", "@receipt.txt"]);
    assert_eq!(printed.exits(0).stdout, "booked from a file\n");
}

#[test]
fn again_reports_what_runs_again_and_runs_just_that() {
    let user = User::new()
        .file("outer.yaml", "name: outer\nsteps:\n  - {id: first, command: echo first >> effects}\n  - {id: call, recipe: inner}\n  - {id: last, command: echo last >> effects}\n")
        .file("inner.yaml", "name: inner\nsteps:\n  - {id: one, command: echo one >> effects}\n  - {id: two, command: echo two >> effects}\n");
    user.towpath(&["run", "outer.yaml"]).exits(0);
    let run = user.run();
    user.towpath(&["resume", run.as_str(), "--again", "two"])
        .exits(0)
        .reports("runs again: call/two, last");
    assert_eq!(user.read("effects"), "first\none\ntwo\nlast\ntwo\nlast\n");
}

#[test]
fn an_edited_recipe_is_named_and_the_recorded_text_runs() {
    let text = "name: e\nsteps:\n  - {id: a, command: echo a1 >> effects}\n  - {id: b, command: 'echo b1 >> effects; [ -e ok ]'}\n  - {id: c, command: echo c1 >> effects}\n";
    let user = User::new().file("e.yaml", text);
    user.towpath(&["run", "e.yaml"]).exits(1);
    user.write("e.yaml", &text.replace("b1", "b2").replace("c1", "c2"));
    let printed = user.towpath(&["resume", "--last"]).exits(1).reports("changed: b, c");
    assert!(printed.stderr.contains("--edited"), "{}", printed.stderr);
    assert_eq!(user.read("effects"), "a1\nb1\nb1\n");
    user.write("ok", "");
    user.towpath(&["resume", "--last", "--edited"]).exits(0);
    assert_eq!(user.read("effects"), "a1\nb1\nb1\nb2\nc2\n");
}

/// Nothing in the first plan reads the output, so it stays on disk.
#[test]
fn an_edited_recipe_reads_a_large_output_that_nothing_read_before() {
    let text = "name: e\nsteps:\n  - {id: c, command: \"head -c 70000 /dev/zero | tr '\\\\0' x\"}\n  - {id: d, command: 'false'}\n";
    let user = User::new().file("e.yaml", text);
    user.towpath(&["run", "e.yaml", "-q"]).exits(1);
    user.write("e.yaml", &text.replace("'false'", "'printf %s {{c}} | wc -c; [ -e ok ]'"));
    let printed = user.towpath(&["resume", "--last", "--edited", "-q"]).exits(1);
    assert_eq!(printed.stdout.trim(), "70000", "{}", printed.stderr);
    // The edited plan is in the record now.
    user.write("ok", "");
    let printed = user.towpath(&["resume", "--last", "-q"]).exits(0);
    assert_eq!(printed.stdout.trim(), "70000", "{}", printed.stderr);
    user.towpath(&["show", user.run().as_str()]).exits(0);
}

/// A backup that was copied over the journal: what has finished would run again.
#[test]
fn a_run_that_the_journal_has_lost_facts_of_is_not_resumed() {
    let text = "name: e\nsteps:\n  - {id: a, command: echo a >> effects}\n  - {id: b, command: 'echo b >> effects; [ -e ok ]'}\n";
    let user = User::new().file("e.yaml", text);
    user.towpath(&["run", "e.yaml"]).exits(1);
    let (run, state) = (user.run(), user.store().directory().to_owned());
    let journal = state.join("journal.db");
    let older = std::fs::read(&journal).expect("the journal");
    user.write("ok", "");
    user.towpath(&["resume", run.as_str()]).exits(0);
    std::fs::write(&journal, older).expect("a backup");
    let _ = std::fs::remove_file(state.join("journal.db-wal"));
    let lost = "the journal has lost what run";
    user.towpath(&["resume", run.as_str()]).exits(5).reports(lost);
    user.towpath(&["show", run.as_str()]).exits(5).reports(lost);
    user.towpath(&["doctor"]).exits(1).shows(lost);
    assert_eq!(user.read("effects"), "a\nb\nb\n");
    std::fs::remove_file(&journal).expect("the journal");
    user.towpath(&["doctor"]).exits(1).shows("1 run left a directory");
}

#[test]
fn an_edit_of_finished_work_is_refused_with_the_list() {
    let text = "name: e\nsteps:\n  - {id: a, command: echo a1 >> effects}\n  - {id: b, command: 'false'}\n";
    let user = User::new().file("e.yaml", text);
    user.towpath(&["run", "e.yaml"]).exits(1);
    user.write("e.yaml", &text.replace("a1", "a2"));
    user.towpath(&["resume", "--last", "--edited"]).exits(2).reports("a has run and was changed");
    // The refusal changes nothing: the run can still continue.
    user.towpath(&["resume", "--last", "--done", "b"]).exits(0);
}

#[test]
fn a_limit_makes_the_run_wait_and_a_resume_continues() {
    let recipe = "name: l\nsteps:\n  - {id: a, prompt: first}\n  - {id: b, prompt: second}\n";
    let script = "\"one\"\n{\"error\":\"limit\",\"until\":\"2030-01-02T03:04:05Z\"}\n\"two\"\n";
    let user = User::new().file("l.yaml", recipe).file("s.jsonl", script);
    let flags =
        ["run", "l.yaml", "--backend", "scripted", "--script", "s.jsonl", "--calls", "calls"];
    user.towpath(&flags).exits(75).reports("2030-01-02");
    let printed = user.towpath(&["runs"]).exits(0);
    assert!(printed.stdout.contains("waiting"), "{}", printed.stdout);
    let printed = user.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(printed.stdout, "two\n");
    let calls: Vec<serde_json::Value> = user
        .read("calls")
        .lines()
        .map(|l| serde_json::from_str(l).expect("a call is a JSON line"))
        .collect();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[2]["step"], "b");
    assert!(calls[0]["prompt"].as_str().expect("a prompt").starts_with("first\n"));
}

#[test]
fn an_interrupted_scripted_call_gets_its_own_line_again() {
    let recipe = "name: l\nsteps:\n  - {id: a, prompt: x}\n  - {id: b, prompt: x}\n";
    let script = "{\"text\":\"one\",\"run\":\"touch began; [ -e go ] || sleep 60\"}\n\"two\"\n";
    let user = User::new().file("l.yaml", recipe).file("s.jsonl", script);
    let mut runner = user.start(&["run", "l.yaml", "--backend", "scripted", "--script", "s.jsonl"]);
    until("the agent works", || user.path("work/began").exists());
    kill_hard(&mut runner);
    user.write("go", "");
    let printed = user.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(printed.stdout, "one\ntwo\n");
}

#[test]
fn a_script_that_lost_the_line_of_an_interrupted_call_is_refused() {
    let recipe = "name: l\nsteps:\n  - {id: a, prompt: x}\n  - {id: b, prompt: x}\n";
    let second = "{\"text\":\"two\",\"run\":\"touch began; [ -e go ] || sleep 60\"}\n";
    let script = format!("\"one\"\n{second}");
    let user = User::new().file("l.yaml", recipe).file("s.jsonl", &script);
    let mut runner = user.start(&["run", "l.yaml", "--backend", "scripted", "--script", "s.jsonl"]);
    until("the agent works", || user.path("work/began").exists());
    kill_hard(&mut runner);
    user.write("go", "");
    user.write("s.jsonl", "\"one\"\n");
    user.towpath(&["resume", "--last"])
        .exits(2)
        .reports("s.jsonl:2: this line")
        .reports("--script");
    user.write("s.jsonl", &script);
    let printed = user.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(printed.stdout, "two\n", "the step before it does not run again");
}

#[test]
fn a_script_that_runs_out_is_marked_and_unused_lines_are_reported() {
    let recipe = "name: l\nsteps:\n  - {id: a, prompt: x, continue_on_error: true}\n  - {id: b, prompt: x}\n";
    let user = User::new().file("l.yaml", recipe).file("s.jsonl", "\"one\"\n");
    let flags = ["run", "l.yaml", "--backend", "scripted", "--script", "s.jsonl"];
    user.towpath(&flags).exits(4).reports("s.jsonl");
    user.write("s.jsonl", "\"one\"\n\"two\"\n\"three\"\n");
    user.towpath(&flags).exits(0).reports("line 3");
}

#[test]
fn ctrl_z_stops_everything_and_stopped_time_does_not_count() {
    let recipe = "name: z\nsteps:\n  - {id: a, timeout: 2, command: 'touch began; for i in $(seq 60); do echo tick >> ticks; sleep 0.02; done'}\n";
    let user = User::new().file("z.yaml", recipe);
    let mut runner = user.start(&["run", "z.yaml"]);
    until("it ticks", || user.read("ticks").lines().count() > 2);
    signal(&runner, Signal::TSTP);
    let stopped = || {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", runner.id())).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
    };
    until("the runner is stopped", stopped);
    let ticks = user.read("ticks").lines().count();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let later = user.read("ticks").lines().count();
    assert!(later <= ticks + 1, "the step is stopped too: {ticks} then {later}");
    signal(&runner, Signal::CONT);
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(0), "no timeout fired");
    assert_eq!(user.count("ticks", "tick"), 60);
}

#[test]
fn after_a_crash_the_resume_names_what_it_ended() {
    let recipe = "name: s\nsteps:\n  - {id: server, command: 'sleep 600 & echo $! > pid'}\n  - {id: work, command: 'touch began; [ -e go ] || sleep 60'}\n";
    let user = User::new().file("s.yaml", recipe);
    let mut runner = user.start(&["run", "s.yaml"]);
    until("work has begun", || user.path("work/began").exists());
    kill_hard(&mut runner);
    until("the server is gone", || !lives(&user.read("pid")));
    user.write("go", "");
    let printed = user.towpath(&["resume", "--last"]).exits(0);
    assert!(
        printed.stderr.contains("server") && printed.stderr.contains("--again server"),
        "{}",
        printed.stderr
    );
}

#[test]
fn a_run_can_be_resumed_from_another_directory() {
    let user =
        User::new().file("r.yaml", "name: r\nsteps:\n  - {id: a, command: '[ -e ok ] && pwd'}\n");
    user.towpath(&["run", "r.yaml"]).exits(1);
    user.write("ok", "");
    let run = user.run();
    let mut command = user.command(&["resume", run.as_str()]);
    command.current_dir("/");
    let printed = Printed::from(command.output().expect("towpath starts")).exits(0);
    assert_eq!(
        printed.stdout.trim(),
        user.path("work").canonicalize().expect("a path").display().to_string()
    );
}

#[test]
fn contradicting_answers_are_refused_and_record_nothing() {
    let (user, run) = interrupted_once();
    let both = ["resume", &run, "--done", "transfer", "--again", "transfer"];
    user.towpath(&both).exits(2).reports("given to both --done and --again");
    let two = ["resume", &run, "--done", "transfer", "--done", "book", "--output", "x"];
    user.towpath(&two).exits(2).reports("one --done");
    user.towpath(&["resume", &run]).exits(10);
    assert_eq!(user.count("ledger", "paid"), 1);
}

#[test]
fn a_resume_that_is_refused_leaves_the_question_open() {
    let (user, run) = interrupted_once();
    std::fs::rename(user.path("work"), user.path("moved")).expect("the directory can be moved");
    let mut command = user.command(&["resume", &run, "--again", "transfer"]);
    command.current_dir(user.path("moved"));
    Printed::from(command.output().expect("towpath starts")).exits(5).reports("is gone");
    std::fs::rename(user.path("moved"), user.path("work")).expect("and back");
    user.towpath(&["resume", &run]).exits(10);
    assert_eq!(user.count("ledger", "paid"), 1);
}

#[test]
fn a_step_that_ran_again_is_found_by_its_plain_name() {
    let user = User::new().file("a.yaml", "name: a\nsteps:\n  - {id: x, command: echo x >> effects}\n  - {id: y, command: echo y >> effects}\n");
    user.towpath(&["run", "a.yaml"]).exits(0);
    for _ in 0..2 {
        user.towpath(&["resume", "--last", "--again", "y"]).exits(0);
    }
    assert_eq!(user.read("effects"), "x\ny\ny\ny\n");
}

#[test]
fn only_finished_steps_are_reported_to_miss_what_they_left_running() {
    let recipe = "
name: left
steps:
  - id: serve
    command: sleep 300 > /dev/null 2>&1 &
  - id: test
    command: sleep 300 > /dev/null 2>&1 & [ -e ok ]
";
    let user = User::new().file("left.yaml", recipe);
    user.towpath(&["run", "left.yaml"]).exits(1);
    let run = user.run();
    user.write("ok", "");
    let printed = user.towpath(&["resume", run.as_str()]).exits(0);
    let reported: Vec<&str> = printed.stderr.lines().filter(|l| l.contains("is gone")).collect();
    assert_eq!(reported.len(), 1, "{}", printed.stderr);
    assert!(
        reported[0].starts_with("warning: serve: what it left running is gone"),
        "{}",
        reported[0]
    );
    assert!(
        reported[0].ends_with(&format!("towpath resume {run} --again serve")),
        "{}",
        reported[0]
    );
}

/// What was paid for a step that ran again was paid all the same.
#[test]
fn the_cost_of_a_run_contains_the_calls_that_were_made_again() {
    let recipe = "name: two\nsteps:\n  - {id: a, prompt: x}\n  - {id: b, prompt: y}\n";
    let answers: String =
        [1, 2, 4, 8].map(|cost| format!("{{\"text\": \"done\", \"cost_usd\": {cost}}}\n")).concat();
    let user = User::new().file("two.yaml", recipe).file("answers.jsonl", &answers);
    let script = ["--script", "answers.jsonl", "--json"];
    let first = user.towpath(&[&["run", "two.yaml"], &script[..]].concat()).exits(0).json();
    assert_eq!(first["summary"]["cost_usd"], 3.0, "{first}");
    let resume = ["resume", "--last", "--again", "a"];
    let second = user.towpath(&[&resume[..], &script[2..]].concat()).exits(0).json();
    let summary = &second["summary"];
    assert_eq!(summary["cost_usd"], 15.0, "{second}");
    assert_eq!(summary["cost_complete"], true, "{second}");
    assert_eq!(summary["agent_calls"], 4, "{second}");
}

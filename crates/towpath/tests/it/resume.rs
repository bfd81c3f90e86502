//! Going on: what is kept, what is asked, what runs anew. Real processes.

use crate::support::{Person, Said, kill_hard, lives, signal, until};

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
    let person = Person::new().file("three.yaml", recipe);
    person.towpath(&["run", "three.yaml"]).exits(1);
    let run = person.run();
    let resume = ["resume", run.as_str()];
    person.towpath(&resume).exits(1);
    person.write("b.ok", "");
    let said = person.towpath(&resume).exits(1);
    said.says(&format!("  nothing is lost: towpath resume {run}\n"));
    person.write("c.ok", "");
    person.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(person.read("effects"), "a\nb\nb\nb\nc\nc\n");
    person.towpath(&resume).exits(0).says("is done");
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
    let person = Person::new().file("group.yaml", recipe);
    person.towpath(&["run", "group.yaml"]).exits(1);
    person.write("ok", "");
    person.towpath(&["resume", "--last"]).exits(0);
    let mut effects: Vec<String> = person.read("effects").lines().map(str::to_owned).collect();
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

fn cut_off_once() -> (Person, String) {
    let person = Person::new().file("pay.yaml", ONCE);
    let mut runner = person.start(&["run", "pay.yaml"]);
    until("the transfer has begun", || person.count("ledger", "paid") == 1);
    kill_hard(&mut runner);
    person.write("quick", "");
    let run = person.run().to_string();
    (person, run)
}

#[test]
fn a_cut_off_step_marked_once_is_asked_about_and_not_repeated() {
    let (person, run) = cut_off_once();
    for _ in 0..2 {
        let said = person.towpath(&["resume", &run]).exits(10);
        for command in ["--done transfer", "--again transfer"] {
            assert!(
                said.stderr.contains(&format!("towpath resume {run} {command}")),
                "{}",
                said.stderr
            );
        }
    }
    assert_eq!(person.count("ledger", "paid"), 1);
    let said =
        person.towpath(&["resume", &run, "--done", "transfer", "--output", "by phone"]).exits(0);
    assert_eq!(said.stdout, "booked by phone\n");
    assert_eq!(person.count("ledger", "paid"), 1);
}

#[test]
fn a_person_may_have_it_run_again() {
    let (person, run) = cut_off_once();
    let said = person.towpath(&["resume", &run, "--again", "transfer"]).exits(0);
    assert_eq!(said.stdout, "receipt\nbooked receipt\n");
    assert_eq!(person.count("ledger", "paid"), 2);
}

#[test]
fn an_output_may_come_from_a_file_and_wrong_steps_are_refused() {
    let (person, run) = cut_off_once();
    person.towpath(&["resume", &run, "--done", "nope"]).exits(2).says("no step `nope`");
    person.towpath(&["resume", &run, "--done", "book"]).exits(2).says("not waiting");
    person.towpath(&["resume", &run, "--again", "book"]).exits(2).says("not run yet");
    person.write("receipt.txt", "from a file\n");
    let said = person.towpath(&["resume", &run, "--done", "transfer", "--output", "@receipt.txt"]);
    assert_eq!(said.exits(0).stdout, "booked from a file\n");
}

#[test]
fn again_says_what_runs_anew_and_runs_just_that() {
    let person = Person::new()
        .file("outer.yaml", "name: outer\nsteps:\n  - {id: first, command: echo first >> effects}\n  - {id: call, recipe: inner}\n  - {id: last, command: echo last >> effects}\n")
        .file("inner.yaml", "name: inner\nsteps:\n  - {id: one, command: echo one >> effects}\n  - {id: two, command: echo two >> effects}\n");
    person.towpath(&["run", "outer.yaml"]).exits(0);
    let run = person.run();
    person
        .towpath(&["resume", run.as_str(), "--again", "two"])
        .exits(0)
        .says("runs anew: call/two, last");
    assert_eq!(person.read("effects"), "first\none\ntwo\nlast\ntwo\nlast\n");
}

#[test]
fn an_edited_recipe_is_named_and_the_recorded_text_runs() {
    let text = "name: e\nsteps:\n  - {id: a, command: echo a1 >> effects}\n  - {id: b, command: 'echo b1 >> effects; [ -e ok ]'}\n  - {id: c, command: echo c1 >> effects}\n";
    let person = Person::new().file("e.yaml", text);
    person.towpath(&["run", "e.yaml"]).exits(1);
    person.write("e.yaml", &text.replace("b1", "b2").replace("c1", "c2"));
    let said = person.towpath(&["resume", "--last"]).exits(1).says("changed: b, c");
    assert!(said.stderr.contains("--edited"), "{}", said.stderr);
    assert_eq!(person.read("effects"), "a1\nb1\nb1\n");
    person.write("ok", "");
    person.towpath(&["resume", "--last", "--edited"]).exits(0);
    assert_eq!(person.read("effects"), "a1\nb1\nb1\nb2\nc2\n");
}

#[test]
fn an_edit_of_finished_work_is_refused_with_the_list() {
    let text = "name: e\nsteps:\n  - {id: a, command: echo a1 >> effects}\n  - {id: b, command: 'false'}\n";
    let person = Person::new().file("e.yaml", text);
    person.towpath(&["run", "e.yaml"]).exits(1);
    person.write("e.yaml", &text.replace("a1", "a2"));
    person.towpath(&["resume", "--last", "--edited"]).exits(2).says("a has run and was changed");
    // The refusal changes nothing: the run can still go on.
    person.towpath(&["resume", "--last", "--done", "b"]).exits(0);
}

#[test]
fn a_limit_makes_the_run_wait_and_a_resume_goes_on() {
    let recipe = "name: l\nsteps:\n  - {id: a, prompt: first}\n  - {id: b, prompt: second}\n";
    let script = "\"one\"\n{\"error\":\"limit\",\"until\":\"2030-01-02T03:04:05Z\"}\n\"two\"\n";
    let person = Person::new().file("l.yaml", recipe).file("s.jsonl", script);
    let flags =
        ["run", "l.yaml", "--backend", "scripted", "--script", "s.jsonl", "--calls", "calls"];
    person.towpath(&flags).exits(75).says("2030-01-02");
    let said = person.towpath(&["runs"]).exits(0);
    assert!(said.stdout.contains("waiting"), "{}", said.stdout);
    let said = person.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(said.stdout, "two\n");
    let calls: Vec<serde_json::Value> = person
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
    let person = Person::new().file("l.yaml", recipe).file("s.jsonl", script);
    let mut runner =
        person.start(&["run", "l.yaml", "--backend", "scripted", "--script", "s.jsonl"]);
    until("the agent works", || person.path("work/began").exists());
    kill_hard(&mut runner);
    person.write("go", "");
    let said = person.towpath(&["resume", "--last"]).exits(0);
    assert_eq!(said.stdout, "one\ntwo\n");
}

#[test]
fn a_script_that_runs_out_says_so_and_unused_lines_are_reported() {
    let recipe = "name: l\nsteps:\n  - {id: a, prompt: x, continue_on_error: true}\n  - {id: b, prompt: x}\n";
    let person = Person::new().file("l.yaml", recipe).file("s.jsonl", "\"one\"\n");
    let flags = ["run", "l.yaml", "--backend", "scripted", "--script", "s.jsonl"];
    person.towpath(&flags).exits(4).says("s.jsonl");
    person.write("s.jsonl", "\"one\"\n\"two\"\n\"three\"\n");
    person.towpath(&flags).exits(0).says("line 3");
}

#[test]
fn ctrl_z_stops_everything_and_stopped_time_does_not_count() {
    let recipe = "name: z\nsteps:\n  - {id: a, timeout: 2, command: 'touch began; for i in $(seq 60); do echo tick >> ticks; sleep 0.02; done'}\n";
    let person = Person::new().file("z.yaml", recipe);
    let mut runner = person.start(&["run", "z.yaml"]);
    until("it ticks", || person.read("ticks").lines().count() > 2);
    signal(&runner, "-TSTP");
    let stopped = || {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", runner.id())).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
    };
    until("the runner is stopped", stopped);
    let ticks = person.read("ticks").lines().count();
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let later = person.read("ticks").lines().count();
    assert!(later <= ticks + 1, "the step is stopped too: {ticks} then {later}");
    signal(&runner, "-CONT");
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(0), "no timeout fired");
    assert_eq!(person.count("ticks", "tick"), 60);
}

#[test]
fn after_a_crash_the_resume_names_what_it_ended() {
    let recipe = "name: s\nsteps:\n  - {id: server, command: 'sleep 600 & echo $! > pid'}\n  - {id: work, command: 'touch began; [ -e go ] || sleep 60'}\n";
    let person = Person::new().file("s.yaml", recipe);
    let mut runner = person.start(&["run", "s.yaml"]);
    until("work has begun", || person.path("work/began").exists());
    kill_hard(&mut runner);
    until("the server is gone", || !lives(&person.read("pid")));
    person.write("go", "");
    let said = person.towpath(&["resume", "--last"]).exits(0);
    assert!(
        said.stderr.contains("server") && said.stderr.contains("--again server"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_run_can_be_resumed_from_another_directory() {
    let person =
        Person::new().file("r.yaml", "name: r\nsteps:\n  - {id: a, command: '[ -e ok ] && pwd'}\n");
    person.towpath(&["run", "r.yaml"]).exits(1);
    person.write("ok", "");
    let run = person.run();
    let mut command = person.command(&["resume", run.as_str()]);
    command.current_dir("/");
    let said = Said::from(command.output().expect("towpath starts")).exits(0);
    assert_eq!(
        said.stdout.trim(),
        person.path("work").canonicalize().expect("a path").display().to_string()
    );
}

#[test]
fn contradicting_answers_are_refused_and_record_nothing() {
    let (person, run) = cut_off_once();
    let both = ["resume", &run, "--done", "transfer", "--again", "transfer"];
    person.towpath(&both).exits(2).says("both done and run again");
    let two = ["resume", &run, "--done", "transfer", "--done", "book", "--output", "x"];
    person.towpath(&two).exits(2).says("one --done");
    person.towpath(&["resume", &run]).exits(10);
    assert_eq!(person.count("ledger", "paid"), 1);
}

#[test]
fn a_resume_that_is_refused_leaves_the_question_open() {
    let (person, run) = cut_off_once();
    std::fs::rename(person.path("work"), person.path("moved")).expect("the directory can be moved");
    let mut command = person.command(&["resume", &run, "--again", "transfer"]);
    command.current_dir(person.path("moved"));
    Said::from(command.output().expect("towpath starts")).exits(5).says("is gone");
    std::fs::rename(person.path("moved"), person.path("work")).expect("and back");
    person.towpath(&["resume", &run]).exits(10);
    assert_eq!(person.count("ledger", "paid"), 1);
}

#[test]
fn a_step_that_ran_anew_is_found_by_its_plain_name() {
    let person = Person::new().file("a.yaml", "name: a\nsteps:\n  - {id: x, command: echo x >> effects}\n  - {id: y, command: echo y >> effects}\n");
    person.towpath(&["run", "a.yaml"]).exits(0);
    for _ in 0..2 {
        person.towpath(&["resume", "--last", "--again", "y"]).exits(0);
    }
    assert_eq!(person.read("effects"), "x\ny\ny\ny\n");
}

#[test]
fn only_finished_steps_are_said_to_miss_what_they_left_running() {
    let recipe = "
name: left
steps:
  - id: serve
    command: sleep 300 > /dev/null 2>&1 &
  - id: test
    command: sleep 300 > /dev/null 2>&1 & [ -e ok ]
";
    let person = Person::new().file("left.yaml", recipe);
    person.towpath(&["run", "left.yaml"]).exits(1);
    let run = person.run();
    person.write("ok", "");
    let said = person.towpath(&["resume", run.as_str()]).exits(0);
    let told: Vec<&str> = said.stderr.lines().filter(|l| l.contains("is gone")).collect();
    assert_eq!(told.len(), 1, "{}", said.stderr);
    assert!(told[0].starts_with("warning: serve: what it left running is gone"), "{}", told[0]);
    assert!(told[0].ends_with(&format!("towpath resume {run} --again serve")), "{}", told[0]);
}

/// What was paid for a step that ran again was paid all the same.
#[test]
fn the_cost_of_a_run_contains_the_calls_that_were_made_again() {
    let recipe = "name: two\nsteps:\n  - {id: a, prompt: x}\n  - {id: b, prompt: y}\n";
    let answers: String =
        [1, 2, 4, 8].map(|cost| format!("{{\"text\": \"done\", \"cost_usd\": {cost}}}\n")).concat();
    let person = Person::new().file("two.yaml", recipe).file("answers.jsonl", &answers);
    let script = ["--script", "answers.jsonl", "--json"];
    let first = person.towpath(&[&["run", "two.yaml"], &script[..]].concat()).exits(0).json();
    assert_eq!(first["summary"]["cost_usd"], 3.0, "{first}");
    let resume = ["resume", "--last", "--again", "a"];
    let second = person.towpath(&[&resume[..], &script[2..]].concat()).exits(0).json();
    let summary = &second["summary"];
    assert_eq!(summary["cost_usd"], 15.0, "{second}");
    assert_eq!(summary["cost_complete"], true, "{second}");
    assert_eq!(summary["agent_calls"], 4, "{second}");
}

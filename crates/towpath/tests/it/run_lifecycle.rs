//! Cases from the life of people who run agents, each named after what it protects.

use crate::support::{Person, kill_hard, lives, signal, until};
use std::fmt::Write;

/// Ten steps, each of which notes its effect; the fifth waits until it is told to go on.
fn ten_steps() -> String {
    let mut text = "name: ten\nsteps:\n".to_owned();
    for step in 1..=10 {
        let wait = if step == 5 { "; [ -e go ] || sleep 60" } else { "" };
        let _ = writeln!(text, "  - id: s{step}\n    command: echo s{step} >> effects{wait}");
    }
    text
}

#[test]
fn finished_steps_are_not_paid_twice_after_kill_9() {
    let person = Person::new().file("ten.yaml", &ten_steps());
    let mut runner = person.start(&["run", "ten.yaml"]);
    until("the fifth step runs", || person.count("effects", "s5") == 1);
    kill_hard(&mut runner);
    person.write("go", "");
    let run = person.run();
    person.towpath(&["resume", run.as_str()]).exits(0);
    let effects = person.read("effects");
    assert_eq!(effects.lines().count(), 11, "only the interrupted step ran twice:\n{effects}");
    assert_eq!(person.count("effects", "s5"), 2);
}

#[test]
fn of_a_hundred_agents_only_the_failed_one_runs_again() {
    let mut recipe = "name: many\nsteps:\n".to_owned();
    let mut script = String::new();
    for agent in 1..=100 {
        let _ =
            writeln!(recipe, "  - id: a{agent}\n    prompt: task {agent}.\n    parallel_group: g");
        let error = if agent == 4 { r#","error":"overloaded""# } else { "" };
        let delay = (agent * 37) % 90;
        let _ = writeln!(
            script,
            r#"{{"match":"task {agent}.","text":"answer {agent}","run":"echo {agent} >> effects","delay_ms":{delay}{error}}}"#
        );
    }
    script
        .push_str("{\"match\":\"task 4.\",\"text\":\"answer 4\",\"run\":\"echo 4 >> effects\"}\n");
    let person = Person::new().file("many.yaml", &recipe).file("answers.jsonl", &script);
    let flags = ["run", "many.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    person.towpath(&flags).exits(4);
    assert_eq!(person.read("effects").lines().count(), 100);
    let run = person.run();
    person.towpath(&["resume", run.as_str()]).exits(0);
    assert_eq!(person.read("effects").lines().count(), 101, "exactly one ran again");
    assert_eq!(person.count("effects", "4"), 2);
}

#[test]
fn cancelling_leaves_no_process_and_no_lock_behind() {
    let recipe = "
name: deep
steps:
  - id: work
    prompt: go
";
    let script = r#"{"text":"never","run":"nohup sleep 999 & echo $! > nohup.pid; setsid bash -c 'echo $$ > setsid.pid; sleep 998' & bash -c 'echo $$ > make.pid; sleep 997'"}"#;
    let person = Person::new().file("deep.yaml", recipe).file("answers.jsonl", script);
    let flags = ["run", "deep.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    let mut runner = person.start(&flags);
    let pids = ["nohup.pid", "setsid.pid", "make.pid"];
    until("the agent has its children", || pids.iter().all(|p| person.read(p).ends_with('\n')));
    let run = person.run();
    person.towpath(&["cancel", run.as_str()]).exits(0);
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(143));
    for pid in pids {
        assert!(!lives(&person.read(pid)), "{pid} lives");
    }
    let shown = person.towpath(&["show", run.as_str(), "--json"]).exits(0);
    assert_eq!(shown.json()["status"], "cancelled", "{shown:?}");
}

#[test]
fn a_background_child_that_holds_the_output_does_not_hold_the_step() {
    let recipe = "
name: holder
steps:
  - id: server
    command: sleep 600 & echo $! > pid; echo started
  - id: next
    command: kill -0 $(cat pid) && echo \"still there\"
";
    let person = Person::new().file("holder.yaml", recipe);
    let said = person.towpath(&["run", "holder.yaml"]).exits(0);
    assert_eq!(said.stdout, "started\nstill there\n");
    assert!(!lives(&person.read("pid")), "the child is ended with the run");
    assert!(said.stderr.contains("sleep"), "and it is named: {}", said.stderr);
}

#[test]
fn a_new_run_is_fresh_and_only_hints_at_an_older_one() {
    let recipe = "
name: task
context:
  what: old
steps:
  - id: note
    command: echo {{what}} >> done
  - id: break
    command: '[ -e fixed ]'
";
    let person = Person::new().file("task.yaml", recipe);
    person.towpath(&["run", "task.yaml"]).exits(1);
    let old = person.run();
    person.write("fixed", "");
    person
        .towpath(&["run", "task.yaml", "--set", "what=new"])
        .exits(0)
        .says(&format!("towpath resume {old}"));
    assert_eq!(person.read("done"), "old\nnew\n");
    assert_eq!(person.runs(), 2);
}

#[test]
fn of_two_who_resume_one_wins_and_the_other_is_told_who() {
    let recipe = "
name: long
steps:
  - id: wait
    command: echo $$ >> pids; [ -e go ] || sleep 60
";
    let person = Person::new().file("long.yaml", recipe);
    let mut first = person.start(&["run", "long.yaml"]);
    until("it runs", || person.read("pids").lines().count() == 1);
    let run = person.run();
    let holder = format!("process {}", first.id());
    person.towpath(&["resume", run.as_str()]).exits(5).says(&holder);
    kill_hard(&mut first);
    // A dead holder's hold ends by itself.
    person.write("go", "");
    person.towpath(&["resume", run.as_str()]).exits(0);
    assert_eq!(person.read("pids").lines().count(), 2);
}

#[test]
fn started_from_inside_an_agent_session_the_child_agent_starts_clean() {
    let recipe = "name: nested\nsteps:\n  - id: a\n    prompt: go\n";
    let script = r#"{"text":"ok","run":"env > agent.env"}"#;
    let person = Person::new().file("nested.yaml", recipe).file("answers.jsonl", script);
    let flags = ["run", "nested.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    let mut command = person.command(&flags);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
    command.env("AMPLIHACK_SESSION_DEPTH", "2").env("AMPLIHACK_TREE_ID", "tree");
    let said = crate::support::Said::from(command.output().expect("towpath starts")).exits(0);
    assert_eq!(said.stdout, "ok\n");
    let environment = person.read("agent.env");
    assert!(!environment.contains("CLAUDECODE"), "{environment}");
    assert!(!environment.contains("CLAUDE_CODE_ENTRYPOINT"), "{environment}");
    assert!(environment.contains("AMPLIHACK_SESSION_DEPTH=3\n"), "{environment}");
    assert!(environment.contains("AMPLIHACK_TREE_ID=tree\n"), "{environment}");
    let mut command = person.command(&flags);
    command.env("AMPLIHACK_SESSION_DEPTH", "6");
    crate::support::Said::from(command.output().expect("towpath starts"))
        .exits(3)
        .says("nested 6 deep");
}

#[test]
fn ctrl_c_ends_the_children_and_keeps_the_record() {
    let person = Person::new().file("ten.yaml", &ten_steps());
    let mut runner = person.start(&["run", "ten.yaml"]);
    until("the fifth step runs", || person.count("effects", "s5") == 1);
    signal(&runner, "-INT");
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(130));
    let run = person.run();
    assert!(towpath_process::marked(run.as_str()).is_empty());
    person.write("go", "");
    person.towpath(&["resume", run.as_str()]).exits(0);
    assert_eq!(person.read("effects").lines().count(), 11);
}

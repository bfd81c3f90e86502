//! Cases from the life of people who run agents, each named after what it protects.

use crate::support::{Signal, User, kill_hard, lives, signal, until};
use std::fmt::Write as _;

/// Ten steps, each of which notes its effect; the fifth waits until it is asked to continue.
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
    let user = User::new().file("ten.yaml", &ten_steps());
    let mut runner = user.start(&["run", "ten.yaml"]);
    until("the fifth step runs", || user.count("effects", "s5") == 1);
    kill_hard(&mut runner);
    user.write("go", "");
    let run = user.run();
    user.towpath(&["resume", run.as_str()]).exits(0);
    let effects = user.read("effects");
    assert_eq!(effects.lines().count(), 11, "only the interrupted step ran twice:\n{effects}");
    assert_eq!(user.count("effects", "s5"), 2);
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
    let user = User::new().file("many.yaml", &recipe).file("answers.jsonl", &script);
    let flags = ["run", "many.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    user.towpath(&flags).exits(4);
    assert_eq!(user.read("effects").lines().count(), 100);
    let run = user.run();
    user.towpath(&["resume", run.as_str()]).exits(0);
    assert_eq!(user.read("effects").lines().count(), 101, "exactly one ran again");
    assert_eq!(user.count("effects", "4"), 2);
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
    let user = User::new().file("deep.yaml", recipe).file("answers.jsonl", script);
    let flags = ["run", "deep.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    let mut runner = user.start(&flags);
    let pids = ["nohup.pid", "setsid.pid", "make.pid"];
    until("the agent has its children", || pids.iter().all(|p| user.read(p).ends_with('\n')));
    let run = user.run();
    user.towpath(&["cancel", run.as_str()]).exits(0);
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(143));
    for pid in pids {
        assert!(!lives(&user.read(pid)), "{pid} lives");
    }
    let shown = user.towpath(&["show", run.as_str(), "--json"]).exits(0);
    assert_eq!(shown.json()["status"], "cancelled", "{shown:?}");
}

#[test]
fn a_background_child_with_the_output_open_does_not_delay_the_next_step() {
    let recipe = "
name: background
steps:
  - id: server
    command: sleep 600 & echo $! > pid; echo started
  - id: next
    command: kill -0 $(cat pid) && echo \"still there\"
";
    let user = User::new().file("background.yaml", recipe);
    let printed = user.towpath(&["run", "background.yaml"]).exits(0);
    assert_eq!(printed.stdout, "started\nstill there\n");
    assert!(!lives(&user.read("pid")), "the child is ended with the run");
    assert!(printed.stderr.contains("sleep"), "and it is named: {}", printed.stderr);
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
    let user = User::new().file("task.yaml", recipe);
    user.towpath(&["run", "task.yaml"]).exits(1);
    let old = user.run();
    user.write("fixed", "");
    user.towpath(&["run", "task.yaml", "--set", "what=new"])
        .exits(0)
        .reports(&format!("towpath resume {old}"));
    assert_eq!(user.read("done"), "old\nnew\n");
    assert_eq!(user.runs(), 2);
}

#[test]
fn of_two_who_resume_one_wins_and_the_other_is_shown_its_process() {
    let recipe = "
name: long
steps:
  - id: wait
    command: echo $$ >> pids; [ -e go ] || sleep 60
";
    let user = User::new().file("long.yaml", recipe);
    let mut first = user.start(&["run", "long.yaml"]);
    until("it runs", || user.read("pids").lines().count() == 1);
    let run = user.run();
    let owner = format!("process {}", first.id());
    user.towpath(&["resume", run.as_str()]).exits(5).reports(&owner);
    kill_hard(&mut first);
    // The lock of a dead process ends by itself.
    user.write("go", "");
    user.towpath(&["resume", run.as_str()]).exits(0);
    assert_eq!(user.read("pids").lines().count(), 2);
}

#[test]
fn started_from_inside_an_agent_session_the_child_agent_starts_clean() {
    let recipe = "name: nested\nsteps:\n  - id: a\n    prompt: go\n";
    let script = r#"{"text":"ok","run":"env > agent.env"}"#;
    let user = User::new().file("nested.yaml", recipe).file("answers.jsonl", script);
    let flags = ["run", "nested.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    let mut command = user.command(&flags);
    command.env("CLAUDECODE", "1").env("CLAUDE_CODE_ENTRYPOINT", "cli");
    command.env("AMPLIHACK_SESSION_DEPTH", "2").env("AMPLIHACK_TREE_ID", "tree");
    let printed = crate::support::Printed::from(command.output().expect("towpath starts")).exits(0);
    assert_eq!(printed.stdout, "ok\n");
    let environment = user.read("agent.env");
    assert!(!environment.contains("CLAUDECODE"), "{environment}");
    assert!(!environment.contains("CLAUDE_CODE_ENTRYPOINT"), "{environment}");
    assert!(environment.contains("AMPLIHACK_SESSION_DEPTH=3\n"), "{environment}");
    assert!(environment.contains("AMPLIHACK_TREE_ID=tree\n"), "{environment}");
    let mut command = user.command(&flags);
    command.env("AMPLIHACK_SESSION_DEPTH", "6");
    crate::support::Printed::from(command.output().expect("towpath starts"))
        .exits(3)
        .reports("nested 6 deep");
}

#[test]
fn ctrl_c_ends_the_children_and_keeps_the_record() {
    let user = User::new().file("ten.yaml", &ten_steps());
    let mut runner = user.start(&["run", "ten.yaml"]);
    until("the fifth step runs", || user.count("effects", "s5") == 1);
    signal(&runner, Signal::INT);
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(130));
    let run = user.run();
    assert!(towpath_process::marked(run.as_str()).is_empty());
    user.write("go", "");
    user.towpath(&["resume", run.as_str()]).exits(0);
    assert_eq!(user.read("effects").lines().count(), 11);
}

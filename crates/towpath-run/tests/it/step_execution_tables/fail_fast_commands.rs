//! Which jobs of a run stop at their first failing line, and what a condition read.

use super::*;

/// The names of the jobs that bash runs with its options for that.
fn fail_fast(play: &Play) -> Vec<String> {
    let is = |job: &&Job| matches!(&job.work, JobWork::Bash(filled) if filled.fail_fast);
    play.jobs.iter().filter(is).map(name_of).collect()
}

#[test]
fn commands_and_hooks_of_a_recipe_that_states_it() {
    let recipe = "name: main
fail_fast: true
hooks: {pre_step: pre}
steps:
  - {id: a, command: x}
  - {id: open, command: x, fail_fast: false}
  - {id: ask, prompt: x}
  - {id: call, recipe: called}
";
    let called = "name: called\nsteps:\n  - {id: in, command: x, fail_fast: true}\n  - {id: out, command: x}\n";
    let play = Play::new(&[("main", recipe), ("called", called)], json!({})).play();
    assert_eq!(
        fail_fast(&play),
        ["a:pre_step", "a", "open:pre_step", "ask:pre_step", "call:pre_step", "call/in"]
    );
}

#[test]
fn a_recipe_that_states_nothing_runs_as_ever() {
    let play =
        Play::one("name: main\nhooks: {pre_step: pre}\nsteps:\n  - {id: a, command: x}\n").play();
    assert_eq!(fail_fast(&play), Vec::<String>::new());
}

#[test]
fn a_machines_command() {
    let machine = "id: m
label: M
description: m
initialStep: a
guardrails: {}
fail_fast: true
steps:
  a:
    command: x
    outcomes: [success, failure]
    onOutcome:
      success: {nextStep: b}
      failure: {action: exit, reason: failed}
  b:
    command: x
    fail_fast: false
    outcomes: [success, failure]
    onOutcome:
      success: {action: exit, reason: done}
      failure: {action: exit, reason: failed}
";
    let play = Play::one(machine).play();
    assert_eq!((play.started().as_str(), fail_fast(&play)), ("a b", vec!["a".to_owned()]));
}

/// Later steps change variables; what a condition read is kept.
#[test]
fn the_values_that_a_condition_read_are_kept() {
    let recipe = "name: main
context: {env: staging, list: [1, 2]}
steps:
  - {id: a, command: x, condition: env == prod and list.0 == 1}
  - {id: b, command: x, output: env}
";
    let mut play = Play::one(recipe);
    let output = Output::Text("later".to_owned());
    play.results.insert("b".to_owned(), JobEnd { output, ..JobEnd::new(JobStatus::Exited(0)) });
    let play = play.play();
    let values = |run: &Run| -> Vec<String> {
        let read = run.condition_values(&StepPath::new("a")).iter();
        read.map(|v| format!("{}={}", v.name, v.value.as_deref().unwrap_or("-"))).collect()
    };
    let expected = ["env=\"staging\"", "prod=-", "list.0=1"];
    assert_eq!(values(&play.run), expected);
    assert!(play.run.condition_values(&StepPath::new("b")).is_empty());
}

//! Which jobs of a run are to be sandboxed: the commands of steps that ask for it, each time they are
//! tried, and nothing around them.

use super::*;

/// The names of the jobs that were started in a sandbox.
fn sandboxed(play: &Play) -> Vec<String> {
    play.jobs.iter().filter(|job| job.sandboxed).map(name_of).collect()
}

#[test]
fn commands_and_nothing_around_them() {
    let recipe = "name: main
sandbox: true
hooks: {pre_step: pre, post_step: post, on_error: error}
steps:
  - {id: a, command: x}
  - {id: open, command: x, sandbox: false}
  - {id: ask, prompt: x}
  - {id: call, recipe: called}
";
    let called = "name: called\nsteps:\n  - {id: in, command: x, sandbox: true}\n  - {id: out, command: x}\n";
    let play = Play::new(&[("main", recipe), ("called", called)], json!({})).play();
    assert_eq!(sandboxed(&play), ["a", "call/in"]);
    assert!(play.started().contains("call/out") && play.started().contains("a:pre_step"));
}

#[test]
fn also_when_a_step_is_tried_again() {
    let recipe = "name: main\nsteps:\n  - {id: a, command: x, sandbox: true}\n";
    let mut play = Play::one(recipe).ends("a", JobStatus::Exited(1)).play();
    play.resume();
    assert_eq!(sandboxed(&play), ["a", "a"]);
}

#[test]
fn a_machines_command() {
    let machine = "id: m
label: M
description: m
initialStep: a
guardrails: {}
steps:
  a:
    command: x
    sandbox: true
    outcomes: [success, failure]
    onOutcome:
      success: {nextStep: b}
      failure: {action: exit, reason: failed}
  b:
    command: x
    outcomes: [success, failure]
    onOutcome:
      success: {action: exit, reason: done}
      failure: {action: exit, reason: failed}
";
    let play = Play::one(machine).play();
    assert_eq!((play.started().as_str(), sandboxed(&play)), ("a b", vec!["a".to_owned()]));
}

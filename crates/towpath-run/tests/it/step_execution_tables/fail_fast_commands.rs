//! Which jobs of a run stop at their first failing line, and what a condition read.

use super::*;

/// The names of the jobs that bash runs with these options.
fn with_options(play: &Play, options: &str) -> Vec<String> {
    let is = |job: &&Job| match &job.work {
        JobWork::Bash(filled) => filled.bash_options().join(" ") == options,
        JobWork::Agent(_) => false,
    };
    play.jobs.iter().filter(is).map(name_of).collect()
}

#[test]
fn commands_and_hooks_as_their_recipe_states_it() {
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
        with_options(&play, "-euo pipefail"),
        ["a:pre_step", "a", "open:pre_step", "ask:pre_step", "call:pre_step", "call/in"]
    );
    assert_eq!(with_options(&play, "-eo pipefail"), ["call/out"]);
    assert_eq!(with_options(&play, ""), ["open"]);
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
    assert_eq!(with_options(&play, "-eo pipefail"), ["a"]);
    assert_eq!(with_options(&play, ""), ["b"]);
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

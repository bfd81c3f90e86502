//! `fail_fast: true`: the first failing line of a command, or part of a pipe, fails its step. A file that
//! states nothing runs as before: the last line decides.

use crate::support::User;
use serde_json::json;

const HIDES: &str = "name: r\nsteps:\n  - id: a\n    command: |\n      false\n      echo after\n  - id: b\n    command: false | cat\n  - id: c\n    command: echo \"[$nobody_sets_this]\"\n";

fn stating(field: &str) -> User {
    User::new().file("r.yaml", &HIDES.replacen("steps:", &format!("{field}steps:"), 1))
}

#[test]
fn a_failing_line_in_the_middle_fails_the_step() {
    stating("").towpath(&["run", "r.yaml", "-q"]).exits(0).prints("after\n[]\n");
    stating("fail_fast: false\n").towpath(&["run", "r.yaml", "-q"]).exits(0);
    let user = stating("fail_fast: true\n");
    let failed = user.towpath(&["run", "r.yaml"]).exits(1).reports("at step a (exit 1)");
    assert!(!failed.stdout.contains("after"), "{}", failed.stdout);
}

#[test]
fn so_do_a_part_of_a_pipe_and_a_variable_that_is_not_set() {
    for (command, message) in [("false | cat", "exit 1"), ("echo $nobody_sets_this", "unbound")] {
        let text =
            format!("name: r\nsteps:\n  - {{id: a, fail_fast: true, command: '{command}'}}\n");
        User::new().file("r.yaml", &text).towpath(&["run", "r.yaml"]).exits(1).reports(message);
    }
}

#[test]
fn a_step_overrides_its_recipe_and_values_still_arrive() {
    let user = User::new().file(
        "r.yaml",
        "name: r\nfail_fast: true\ncontext: {v: \"it's $(id)\"}\nsteps:\n  - id: a\n    fail_fast: false\n    command: |\n      false\n      echo {{v}}\n  - id: b\n    command: echo {{v}} {{unset}}\n",
    );
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints("it's $(id)\nit's $(id) \n");
}

#[test]
fn hooks_and_the_commands_of_a_state_machine_too() {
    let hooks = "name: r\nfail_fast: true\nhooks:\n  pre_step: |\n    false\n    touch after-hook\nsteps:\n  - {id: a, command: echo ran}\n";
    let machine = "id: m
label: M
description: m
initialStep: a
guardrails: {}
fail_fast: true
steps:
  a:
    command: |
      false
      echo after
    outcomes: [success, failure]
    onOutcome:
      success: {action: exit, reason: passed}
      failure: {action: exit, reason: found}
";
    let user = User::new().file("r.yaml", hooks).file("m.yaml", machine);
    user.towpath(&["run", "r.yaml"]).exits(0).reports("hook failed");
    assert!(!user.path("work/after-hook").exists());
    user.towpath(&["run", "m.yaml"]).exits(0).reports("found");
    user.towpath(&["run", "m.yaml", "--dry-run"])
        .exits(0)
        .shows("Command (bash -euo pipefail): false");
}

/// What is shown of a command is how it runs, and its first line that does something.
#[test]
fn what_looks_at_a_recipe_shows_it() {
    let user = User::new().file(
        "r.yaml",
        "name: r\nfail_fast: true\nsteps:\n  - id: a\n    command: |\n      # first\n      set -o noglob\n\n      make test\n  - {id: b, fail_fast: false, command: make}\n",
    );
    for look in [&["explain", "r.yaml"][..], &["run", "r.yaml", "--dry-run"]] {
        let shown = user.towpath(look).exits(0).stdout;
        assert!(shown.contains("bash -e  make test"), "{shown}");
        assert!(shown.contains("bash     make"), "{shown}");
    }
    let explained = user.towpath(&["explain", "r.yaml", "--json"]).exits(0).json();
    let stated = |at: usize| explained["recipes"][0]["steps"][at]["fail_fast"].clone();
    assert_eq!([stated(0), stated(1)], [json!(true), json!(false)]);
    let drawn = user.towpath(&["explain", "r.yaml", "--format", "svg"]).exits(0).stdout;
    assert!(drawn.contains("make test") && !drawn.contains("noglob"), "{drawn}");
    user.towpath(&["run", "r.yaml", "-q"]);
    let run = user.run().to_string();
    user.towpath(&["show", &run, "a"]).exits(0).shows("bash -e\n  # first");
}

#[test]
fn validate_notes_what_states_nothing_and_new_recipes_state_it() {
    stating("").towpath(&["validate", "r.yaml"]).exits(0).shows("add `fail_fast: true`");
    let user = User::new();
    user.towpath(&["new", "mine"]).exits(0);
    user.towpath(&["new", "loop", "--machine"]).exits(0);
    for file in ["mine.yaml", "loop.yaml"] {
        let written = [".towpath/recipes/", "recipes/", ""].iter().find_map(|folder| {
            std::fs::read_to_string(user.path(&format!("work/{folder}{file}"))).ok()
        });
        assert!(written.expect("a recipe").contains("\nfail_fast: true\n"), "{file}");
    }
}

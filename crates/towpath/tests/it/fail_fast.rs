//! The first failing line of a command, or part of a pipe, fails its step, unless the recipe has
//! `fail_fast: false`. Under the other names the last line decides.

use crate::support::User;
use serde_json::json;

const HIDES: &str = "name: r\nsteps:\n  - id: a\n    command: |\n      false\n      echo after\n  - id: b\n    command: false | cat\n  - id: c\n    command: echo \"[$nobody_sets_this]\"\n";

fn stating(field: &str) -> User {
    User::new().file("r.yaml", &HIDES.replacen("steps:", &format!("{field}steps:"), 1))
}

#[test]
fn a_failing_line_in_the_middle_fails_the_step() {
    for stated in ["", "fail_fast: true\n"] {
        let failed = stating(stated).towpath(&["run", "r.yaml"]).exits(1);
        let failed = failed.reports("at step a (exit 1)");
        assert!(!failed.stdout.contains("after"), "{}", failed.stdout);
    }
    let off = stating("fail_fast: false\n").towpath(&["run", "r.yaml", "-q"]);
    off.exits(0).prints("after\n[]\n");
}

/// After an expansion that fails, bash by itself continues with the next line.
#[test]
fn a_failing_expansion_fails_the_step() {
    for line in [
        "x=$((08 + 1))",
        "echo $((1 / 0))",
        "test $(( $(cat no-such) / 1 )) -eq 0",
        "s=a; echo ${s:0:-9}",
        "echo ${HOME@Z}",
        "x=$(\n        false\n        echo a\n      )",
    ] {
        let text =
            format!("name: r\nsteps:\n  - id: a\n    command: |\n      {line}\n      echo after\n");
        let user = User::new().file("r.yaml", &text);
        let failed = user.towpath(&["run", "r.yaml"]).exits(1).reports("at step a");
        assert!(!failed.stdout.contains("after"), "{line}: {}", failed.stdout);
    }
    // Text that cannot be one command runs line by line, and each line where it is.
    let text = "name: r\nsteps:\n  - id: a\n    command: |\n      shopt -s extglob\n      case ab in @(ab|c)) echo one;; esac\n  - id: b\n    command: |\n      # only\n      # comments\n  - id: c\n    command: |\n      cat <<E\n      text $LINENO\n      E\n      no-such-program\n";
    let user = User::new().file("r.yaml", text);
    let failed = user.towpath(&["run", "r.yaml"]).exits(1);
    failed.shows("one\n").shows("text 1\n").reports("line 4: no-such-program");
}

#[test]
fn under_another_name_the_last_line_decides_and_a_resume_keeps_that() {
    let text = "name: r\nsteps:\n  - id: a\n    command: |\n      false\n      echo after\n  - id: b\n    command: |\n      false\n      [ -e go ]\n  - id: c\n    command: |\n      false\n      echo end\n";
    let user = User::new().file("r.yaml", text);
    user.towpath(&["as", "recipe-runner-rs", "r.yaml"]).exits(1).shows("after");
    user.write("go", "");
    user.towpath(&["resume", "-q"]).exits(0).prints("end\n");
    user.towpath(&["run", "r.yaml", "-q"]).exits(1);
}

#[test]
fn so_do_a_part_of_a_pipe_and_a_variable_that_is_not_set() {
    let commands = [
        ("false | cat", "exit 1"),
        ("yes | head -n 1", "exit 141: a pipe was closed before all was written"),
        ("echo $nobody_sets_this", "unbound"),
    ];
    for (command, message) in commands {
        let text =
            format!("name: r\nsteps:\n  - {{id: a, fail_fast: true, command: '{command}'}}\n");
        User::new().file("r.yaml", &text).towpath(&["run", "r.yaml"]).exits(1).reports(message);
    }
}

#[test]
fn a_step_overrides_its_recipe_and_values_still_arrive() {
    let user = User::new().file(
        "r.yaml",
        "name: r\nfail_fast: true\ncontext: {v: \"it's $(id)\"}\nsteps:\n  - id: a\n    fail_fast: false\n    command: |\n      false\n      echo {{v}}\n  - id: b\n    command: echo {{v}} {{unset?}}\n",
    );
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints("it's $(id)\nit's $(id) \n");
}

#[test]
fn hooks_and_the_commands_of_a_state_machine_too() {
    let hooks = "name: r\nhooks:\n  pre_step: |\n    false\n    touch after-hook\nsteps:\n  - {id: a, command: echo ran}\n";
    let machine = "id: m
label: M
description: m
initialStep: a
guardrails: {}
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
        assert!(shown.contains("bash  make test"), "{shown}");
    }
    let explained = user.towpath(&["explain", "r.yaml", "--json"]).exits(0).json();
    let stated = |at: usize| explained["recipes"][0]["steps"][at]["fail_fast"].clone();
    assert_eq!([stated(0), stated(1)], [json!(true), json!(false)]);
    let drawn = user.towpath(&["explain", "r.yaml", "--format", "svg"]).exits(0).stdout;
    assert!(drawn.contains("make test") && !drawn.contains("noglob"), "{drawn}");
    user.towpath(&["run", "r.yaml", "-q"]);
    let run = user.run().to_string();
    user.towpath(&["show", &run, "a"]).exits(0).shows("bash\n  # first");
}

/// The commands of a prompt's document run as those of its recipe do.
#[test]
fn the_commands_of_a_prompt_file_too() {
    for (stated, asked) in [("", false), ("fail_fast: false\n", true)] {
        let recipe = format!("name: r\n{stated}steps:\n  - {{id: a, prompt_file: ask.md}}\n");
        let user = User::new()
            .file("r.yaml", &recipe)
            .file("ask.md", "Look:\n@run [false | cat]\n")
            .file("a.jsonl", "{\"text\": \"seen\"}\n");
        let ran = user.towpath(&["run", "r.yaml", "--script", "a.jsonl"]);
        ran.exits(if asked { 0 } else { 1 });
    }
}

#[test]
fn validate_notes_what_bash_does_not_see() {
    stating("").towpath(&["validate", "r.yaml"]).exits(0).shows("no problems");
    let text = "name: r\nsteps:\n  - id: a\n    command: |\n      for i in 1 2; do ls x && break; done\n      echo unpacking\n";
    let user = User::new().file("r.yaml", text);
    user.towpath(&["validate", "r.yaml"]).exits(0).shows("[ $try -lt 3 ] || exit 1");
}

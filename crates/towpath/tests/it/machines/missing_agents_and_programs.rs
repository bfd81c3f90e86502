//! Which agents and programs must be there before the first call, and for what none is needed.

use super::script;
use crate::support::{Printed, User};
use serde_json::Value;
use std::fs;

#[test]
fn an_agent_that_only_a_restart_comes_to_is_asked_for_before_the_first_step() {
    let restart = "{action: restart-new-session, recipeId: retrospective}";
    let machine = format!(
        "{{id: m, label: m, description: d, initialStep: a, guardrails: {{}}, steps: {{a: \
         {{command: echo hi, outcomes: [success, failure], onOutcome: {{success: {restart}, \
         failure: {{action: exit, reason: bad}}}}}}}}}}"
    );
    let user = User::new().file("m.yaml", &machine);
    script(&user, &["complete"]);
    let printed = user.towpath(&["run", "m.yaml", "--backend", "codex"]).exits(5);
    assert!(printed.stderr.contains("npm install"), "{}", printed.stderr);
    assert!(!user.has_journal() || user.runs() == 0);
    user.towpath(&["run", "m.yaml", "--script", "answers.jsonl"]).exits(0);
}

/// Runs with these programs on the PATH, and with no others but what the scripted agent needs.
fn with_programs(user: &User, programs: &[&str], recipe: &str) -> Printed {
    let bin = user.path("bin");
    let _ = fs::remove_dir_all(&bin);
    fs::create_dir(&bin).expect("a folder for programs");
    for program in programs {
        user.program(&format!("bin/{program}"), "#!/bin/sh\n");
    }
    std::os::unix::fs::symlink("/bin/cat", bin.join("cat")).expect("a link");
    let mut command = user.command(&["run", recipe, "--script", "answers.jsonl"]);
    Printed::from(command.env("PATH", &bin).output().expect("towpath starts"))
}

#[test]
fn a_program_that_a_built_in_works_with_is_missed_before_the_first_call() {
    let git = |name: &str| format!("warning: git is not on PATH, and {name} needs it\n");
    let bd = "warning: bd is not on PATH: tasks are kept in TASKS.md instead\n";
    for (recipe, answers, with_git, with_tasks, exit) in [
        ("review-and-commit", &["no-issues", "nothing-to-commit"][..], true, false, 0),
        ("implement-and-review", &["no-tasks"], true, true, 0),
        ("implement-and-review-all", &["no-tasks"], true, true, 0),
        ("break-down-tasks", &["design-missing"], true, true, 1),
        ("document-design", &["needs-input"], true, false, 10),
        ("refine-design", &["not-found"], true, false, 1),
        ("rebase", &["ask-questions"], true, false, 10),
        ("retrospective", &["complete"], false, false, 0),
    ] {
        let user = User::new();
        script(&user, answers);
        let printed = with_programs(&user, &[], recipe).exits(exit);
        let has = |line: &str| printed.stderr.contains(line);
        assert_eq!((has(&git(recipe)), has(bd)), (with_git, with_tasks), "{recipe}: {printed:?}");
        let before = printed.stderr.find("not on PATH").unwrap_or(0);
        assert!(before < printed.stderr.find("started ").expect("a step starts"));
        let printed = with_programs(&user, &["git", "bd"], recipe).exits(exit);
        assert!(!printed.stderr.contains("not on PATH"), "{}", printed.stderr);
    }
}

#[test]
fn a_task_list_of_a_missing_program_is_not_replaced() {
    let user = User::new().file(".beads/config.yaml", "");
    script(&user, &["blocked"]);
    let printed = with_programs(&user, &["git"], "implement-and-review").exits(1);
    user.towpath(&["recipes", "eject", "implement-and-review"]).exits(0);
    let own = "recipes/implement-and-review.yaml";
    let own = [own, &format!(".towpath/{own}")].map(str::to_owned);
    let own = own.iter().find(|own| user.path(&format!("work/{own}")).exists());
    let copy = with_programs(&user, &["git"], own.expect("the copy")).exits(1);
    assert!(copy.stderr.contains(".beads/ exists and bd is not on PATH"), "{copy:?}");
    assert!(printed.stderr.contains(".beads/ exists and bd is not on PATH"), "{}", printed.stderr);
    assert!(!printed.stderr.contains("TASKS.md"), "{}", printed.stderr);
}

#[test]
fn a_dry_run_and_a_list_need_no_agent_and_leave_nothing() {
    let user = User::new();
    for arguments in [
        &["as", "agent-recipes", "--list"][..],
        &["as", "agent-recipes", "implement-and-review", "--dry-run"],
        &["run", "implement-and-review", "--dry-run"],
        &["explain", "implement-and-review"],
    ] {
        user.towpath(arguments).exits(0);
    }
    let json: Value = user.towpath(&["list", "--json"]).exits(0).json();
    assert!(json["recipes"].is_array() && !user.has_journal());
}

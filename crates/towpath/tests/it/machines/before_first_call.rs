//! What is reported before the first call: which machines there are, what an untrusted file of a
//! built-in's name means, and which programs are missing.

use super::{FIX, script};
use crate::support::{Printed, User};
use serde_json::Value;
use std::fs;

#[test]
fn the_list_has_every_machine_by_its_label() {
    let user = User::new().file("recipes/fix.yaml", FIX);
    let printed = user.towpath(&["as", "agent-recipes", "--list", "-R", "recipes"]).exits(0);
    let lines: Vec<&str> = printed.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "break-down-tasks          Break Down Tasks        Create implementation tasks from a \
             design document",
            "document-design           Document Design         Create a detailed design document \
             with examples and verification",
            "fix                       Fix                     Looks, runs the tests, fixes",
            "implement-and-review      Implement & Review      Implement task, review code, fix \
             issues, and commit",
            "implement-and-review-all  Implement & Review All  Implement all tasks, one per \
             session, restarting after each commit",
            "rebase                    Rebase                  Rebase current branch on local main \
             with conflict resolution",
            "refine-design             Refine Design           Improve an existing design document \
             through six focused review passes",
            "retrospective             Retrospective           Reflect on the session and identify \
             friction points",
            "review-and-commit         Review & Commit         Review existing changes, fix \
             issues, and commit",
        ]
    );
    let json = user.towpath(&["as", "agent-recipes", "--list", "--json", "-R", "recipes"]);
    let json = json.exits(0).json();
    let recipes = json["recipes"].as_array().expect("a list");
    assert_eq!(recipes.len(), lines.len());
    for (recipe, line) in recipes.iter().zip(lines) {
        let text = |key: &str| recipe[key].as_str().expect("a text");
        assert!(line.starts_with(text("name")) && line.ends_with(text("description")), "{recipe}");
        assert!(line.contains(text("label")) && recipe["kind"] == "machine");
    }
}

/// A project whose file has the id of a built-in.
fn shadowing() -> User {
    let own = FIX.replace("id: fix", "id: retrospective");
    let user = User::new().file(".towpath/recipes/retrospective.yaml", &own);
    fs::create_dir(user.path("work/.git")).expect("a project");
    script(&user, &["complete"]);
    user
}

const FILE: &str = ".towpath/recipes/retrospective.yaml";

#[test]
fn an_untrusted_file_of_a_built_ins_name_runs_under_no_name() {
    let user = shadowing();
    let run = ["run", "retrospective", "--script", "answers.jsonl"];
    let printed = user.towpath(&run).exits(5).prints("");
    assert!(printed.stderr.contains(&format!("to trust it: towpath trust --yes {FILE}")));
    let other = ["as", "agent-recipes", "retrospective", "--script", "answers.jsonl"];
    let printed = user.towpath(&other).exits(0);
    assert_eq!(printed.stdout.lines().last(), Some("Exit: retrospective-complete"));
    let note = format!("{FILE} is not trusted and does not replace the built-in");
    assert!(printed.stderr.contains(&note), "{}", printed.stderr);
    user.towpath(&["trust", "--yes", FILE]).exits(0);
    script(&user, &["fine"]);
    user.towpath(&run).exits(0);
    let printed = user.towpath(&other).exits(0);
    assert_eq!(printed.stdout.lines().last(), Some("Exit: all-fine"));
    assert!(!printed.stderr.contains("not trusted"), "{}", printed.stderr);
}

#[test]
fn a_broken_file_that_replaces_a_built_in_is_reported_and_nothing_runs() {
    let user = shadowing();
    user.towpath(&["trust", "--yes", FILE]).exits(0);
    let broken = user.read(FILE).replace("nextStep: fix", "nextStep: fxi");
    for text in [broken.as_str(), "", "id: retrospective\n"] {
        user.write(FILE, text);
        let script = ["--script", "answers.jsonl"];
        let run = [&["run", "retrospective"], &script[..]].concat();
        for looking in [&run[..], &["validate", "retrospective"], &["explain", "retrospective"]] {
            let printed = user.towpath(looking).exits(2);
            let reported = printed.stdout.clone() + &printed.stderr;
            assert!(reported.contains(FILE), "{looking:?}: {reported}");
        }
        let dry = [&run[..], &["--dry-run"]].concat();
        user.towpath(&dry).exits(2);
        let other = [&["as", "agent-recipes", "retrospective"], &script[..]].concat();
        let printed = user.towpath(&other).exits(0);
        assert!(printed.stderr.contains("does not replace the built-in"), "{printed:?}");
    }
    user.write(FILE, FIX);
    user.write(".towpath/recipes/retrospective.yml", FIX);
    let printed = user.towpath(&["run", "retrospective"]).exits(2);
    assert!(printed.stderr.contains("`retrospective` is both "), "{}", printed.stderr);
}

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

#[test]
fn the_list_shows_what_is_shadowed() {
    let user = shadowing();
    let shadowed = |user: &User| -> Vec<String> {
        let printed = user.towpath(&["as", "agent-recipes", "--list"]).exits(0);
        let lines = printed.stdout.lines().filter(|line| line.ends_with(" (shadowed)"));
        lines.map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(shadowed(&user), ["Fix"]);
    user.towpath(&["trust", "--yes", FILE]).exits(0);
    assert_eq!(shadowed(&user), ["Retrospective"]);
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
    for (recipe, answers, with_git, with_tasks) in [
        ("review-and-commit", &["no-issues", "nothing-to-commit"][..], true, false),
        ("implement-and-review", &["no-tasks"], true, true),
        ("implement-and-review-all", &["no-tasks"], true, true),
        ("break-down-tasks", &["design-missing"], true, true),
        ("document-design", &["needs-input"], true, false),
        ("refine-design", &["not-found"], true, false),
        ("rebase", &["ask-questions"], true, false),
        ("retrospective", &["complete"], false, false),
    ] {
        let user = User::new();
        script(&user, answers);
        let printed = with_programs(&user, &[], recipe).exits(0);
        let has = |line: &str| printed.stderr.contains(line);
        assert_eq!((has(&git(recipe)), has(bd)), (with_git, with_tasks), "{recipe}: {printed:?}");
        let before = printed.stderr.find("not on PATH").unwrap_or(0);
        assert!(before < printed.stderr.find("started ").expect("a step starts"));
        let printed = with_programs(&user, &["git", "bd"], recipe).exits(0);
        assert!(!printed.stderr.contains("not on PATH"), "{}", printed.stderr);
    }
}

#[test]
fn a_task_list_of_a_missing_program_is_not_replaced() {
    let user = User::new().file(".beads/config.yaml", "");
    script(&user, &["blocked"]);
    let printed = with_programs(&user, &["git"], "implement-and-review").exits(0);
    user.towpath(&["recipes", "eject", "implement-and-review"]).exits(0);
    let own = "recipes/implement-and-review.yaml";
    let own = [own, &format!(".towpath/{own}")].map(str::to_owned);
    let own = own.iter().find(|own| user.path(&format!("work/{own}")).exists());
    let copy = with_programs(&user, &["git"], own.expect("the copy")).exits(0);
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

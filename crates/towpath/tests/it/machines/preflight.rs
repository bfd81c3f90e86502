//! What is said before the first call: which machines there are, what an untrusted file of a
//! built-in's name means, and which programs are missing.

use super::{MEND, script};
use crate::support::{Person, Said};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_list_has_every_machine_by_its_label() {
    let person = Person::new().file("recipes/mend.yaml", MEND);
    let said = person.towpath(&["as", "agent-recipes", "--list", "-R", "recipes"]).exits(0);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(
        lines,
        [
            "break-down-tasks          Break Down Tasks        Create implementation tasks from a \
             design document",
            "document-design           Document Design         Create a detailed design document \
             with examples and verification",
            "implement-and-review      Implement & Review      Implement task, review code, fix \
             issues, and commit",
            "implement-and-review-all  Implement & Review All  Implement all tasks, one per \
             session, restarting after each commit",
            "mend                      Mend                    Looks, runs the tests, mends",
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
    let json = person.towpath(&["as", "agent-recipes", "--list", "--json", "-R", "recipes"]);
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
fn shadowing() -> Person {
    let own = MEND.replace("id: mend", "id: retrospective");
    let person = Person::new().file(".towpath/recipes/retrospective.yaml", &own);
    fs::create_dir(person.path("work/.git")).expect("a project");
    script(&person, &["complete"]);
    person
}

const FILE: &str = ".towpath/recipes/retrospective.yaml";

#[test]
fn an_untrusted_file_of_a_built_ins_name_runs_under_no_name() {
    let person = shadowing();
    let run = ["run", "retrospective", "--script", "answers.jsonl"];
    let said = person.towpath(&run).exits(5).prints("");
    assert!(said.stderr.contains(&format!("to trust it as it is now: towpath trust --yes {FILE}")));
    let other = ["as", "agent-recipes", "retrospective", "--script", "answers.jsonl"];
    let said = person.towpath(&other).exits(0);
    assert_eq!(said.stdout.lines().last(), Some("Exit: retrospective-complete"));
    let note = format!("{FILE} is not trusted and does not take the place of the built-in");
    assert!(said.stderr.contains(&note), "{}", said.stderr);
    person.towpath(&["trust", "--yes", FILE]).exits(0);
    script(&person, &["fine"]);
    person.towpath(&run).exits(0);
    let said = person.towpath(&other).exits(0);
    assert_eq!(said.stdout.lines().last(), Some("Exit: all-fine"));
    assert!(!said.stderr.contains("not trusted"), "{}", said.stderr);
}

#[test]
fn a_file_in_the_place_of_a_built_in_that_cannot_be_understood_is_told_and_nothing_runs() {
    let person = shadowing();
    person.towpath(&["trust", "--yes", FILE]).exits(0);
    let broken = person.read(FILE).replace("nextStep: mend", "nextStep: mned");
    for text in [broken.as_str(), "", "id: retrospective\n"] {
        person.write(FILE, text);
        let script = ["--script", "answers.jsonl"];
        let run = [&["run", "retrospective"], &script[..]].concat();
        for looking in [&run[..], &["validate", "retrospective"], &["explain", "retrospective"]] {
            let said = person.towpath(looking).exits(2);
            let told = said.stdout.clone() + &said.stderr;
            assert!(told.contains(FILE), "{looking:?}: {told}");
        }
        let dry = [&run[..], &["--dry-run"]].concat();
        person.towpath(&dry).exits(2);
        let other = [&["as", "agent-recipes", "retrospective"], &script[..]].concat();
        let said = person.towpath(&other).exits(0);
        assert!(said.stderr.contains("does not take the place of the built-in"), "{said:?}");
    }
    person.write(FILE, MEND);
    person.write(".towpath/recipes/retrospective.yml", MEND);
    let said = person.towpath(&["run", "retrospective"]).exits(2);
    assert!(said.stderr.contains("`retrospective` is both "), "{}", said.stderr);
}

#[test]
fn an_agent_that_only_a_restart_comes_to_is_asked_for_before_the_first_step() {
    let restart = "{action: restart-new-session, recipeId: retrospective}";
    let machine = format!(
        "{{id: m, label: m, description: d, initialStep: a, guardrails: {{}}, steps: {{a: \
         {{command: echo hi, outcomes: [success, failure], onOutcome: {{success: {restart}, \
         failure: {{action: exit, reason: bad}}}}}}}}}}"
    );
    let person = Person::new().file("m.yaml", &machine);
    script(&person, &["complete"]);
    let said = person.towpath(&["run", "m.yaml", "--backend", "codex"]).exits(5);
    assert!(said.stderr.contains("npm install"), "{}", said.stderr);
    assert!(!person.has_journal() || person.runs() == 0);
    person.towpath(&["run", "m.yaml", "--script", "answers.jsonl"]).exits(0);
}

#[test]
fn the_list_shows_what_is_shadowed() {
    let person = shadowing();
    let shadowed = |person: &Person| -> Vec<String> {
        let said = person.towpath(&["as", "agent-recipes", "--list"]).exits(0);
        let lines = said.stdout.lines().filter(|line| line.ends_with(" (shadowed)"));
        lines.map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(shadowed(&person), ["Mend"]);
    person.towpath(&["trust", "--yes", FILE]).exits(0);
    assert_eq!(shadowed(&person), ["Retrospective"]);
}

/// Runs with these programs on the PATH, and with no others but what the scripted agent needs.
fn with_programs(person: &Person, programs: &[&str], recipe: &str) -> Said {
    let bin = person.path("bin");
    let _ = fs::remove_dir_all(&bin);
    fs::create_dir(&bin).expect("a folder for programs");
    for program in programs {
        let file = bin.join(program);
        fs::write(&file, "#!/bin/sh\n").expect("a program");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it can be run");
    }
    std::os::unix::fs::symlink("/bin/cat", bin.join("cat")).expect("a link");
    let mut command = person.command(&["run", recipe, "--script", "answers.jsonl"]);
    Said::from(command.env("PATH", &bin).output().expect("towpath starts"))
}

#[test]
fn a_program_that_a_built_in_works_with_is_missed_before_the_first_call() {
    let git = |name: &str| format!("warning: git is not on the PATH, and {name} works with it\n");
    let bd = "warning: bd is not on the PATH: tasks are kept in TASKS.md instead\n";
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
        let person = Person::new();
        script(&person, answers);
        let said = with_programs(&person, &[], recipe).exits(0);
        let has = |line: &str| said.stderr.contains(line);
        assert_eq!((has(&git(recipe)), has(bd)), (with_git, with_tasks), "{recipe}: {said:?}");
        let before = said.stderr.find("on the PATH").unwrap_or(0);
        assert!(before < said.stderr.find("started ").expect("a step starts"));
        let said = with_programs(&person, &["git", "bd"], recipe).exits(0);
        assert!(!said.stderr.contains("on the PATH"), "{}", said.stderr);
    }
}

#[test]
fn a_task_list_of_a_missing_program_is_not_replaced() {
    let person = Person::new().file(".beads/config.yaml", "");
    script(&person, &["blocked"]);
    let said = with_programs(&person, &["git"], "implement-and-review").exits(0);
    person.towpath(&["recipes", "eject", "implement-and-review"]).exits(0);
    let own = "recipes/implement-and-review.yaml";
    let own = [own, &format!(".towpath/{own}")].map(str::to_owned);
    let own = own.iter().find(|own| person.path(&format!("work/{own}")).exists());
    let copy = with_programs(&person, &["git"], own.expect("the copy")).exits(0);
    assert!(copy.stderr.contains(".beads/ is here and bd is not on the PATH"), "{copy:?}");
    assert!(said.stderr.contains(".beads/ is here and bd is not on the PATH"), "{}", said.stderr);
    assert!(!said.stderr.contains("TASKS.md"), "{}", said.stderr);
}

#[test]
fn a_dry_run_and_a_list_need_no_agent_and_leave_nothing() {
    let person = Person::new();
    for arguments in [
        &["as", "agent-recipes", "--list"][..],
        &["as", "agent-recipes", "implement-and-review", "--dry-run"],
        &["run", "implement-and-review", "--dry-run"],
        &["explain", "implement-and-review"],
    ] {
        person.towpath(arguments).exits(0);
    }
    let json: Value = person.towpath(&["list", "--json"]).exits(0).json();
    assert!(json["recipes"].is_array() && !person.has_journal());
}

//! A machine that gave up is red wherever it is shown, stops what calls it, and continues with the
//! step that gave up; one that leaves the decision to the user asks. Under the name `agent-recipes`
//! every exit is code 0, and the record is the same.

use super::{calls, reporting, run, script, shown, under_the_name, user};
use crate::support::User;

const OTHER: &str = "{\"outcome\": \"other\", \"otherDescription\": \"the disk is full\"}";

/// A test that fails, an agent that fixes it or gives up.
const GATE: &str = "
id: gate
label: Gate
description: Tests and fixes
initialStep: test
guardrails: {}
steps:
  test:
    command: test -e fixed
    outcomes: [success, failure]
    onOutcome: {success: {action: exit, reason: green}, failure: {nextStep: repair}}
  repair:
    prompt: Fix it.
    outcomes: [done, stuck, blocked, unclear, other]
    onOutcome:
      done: {nextStep: test}
      stuck: {action: fail, reason: gave-up}
      blocked: {action: exit, reason: is-blocked, success: false}
      unclear: {action: exit, reason: which-one, success: ask}
      other: {action: exit, reason: something-else}
";

fn gate(answers: &[&str]) -> User {
    let user = user(answers);
    user.write("gate.yaml", GATE);
    user
}

#[test]
fn a_machine_that_gave_up_has_failed_with_its_reason() {
    for (answer, reason) in
        [("stuck", "gave-up"), ("blocked", "is-blocked"), (OTHER, "something-else")]
    {
        let user = gate(&[answer]);
        let shown_too = if answer == OTHER { "the disk is full" } else { reason };
        let printed = run(&user, &["gate.yaml"]).exits(1).reports("gate failed in");
        printed.reports(&format!("at step repair ({reason})")).reports(shown_too).reports("resume");
        let (runs, show) = (user.towpath(&["runs"]).exits(0), user.towpath(&["show"]).exits(0));
        assert!(runs.stdout.contains(&format!("repair: {reason}")), "{}", runs.stdout);
        show.shows("✗ repair").shows("! test").shows("towpath resume");
        let json = shown(&user);
        assert_eq!(
            (&json["status"], &json["machine"]["reason"]),
            (&"failed".into(), &reason.into())
        );
        let row = user.towpath(&["runs", "--json"]).exits(0).json()["runs"][0].clone();
        assert_eq!((&row["where"], &row["reason"]), (&"repair".into(), &reason.into()));
    }
}

#[test]
fn what_calls_a_machine_that_gave_up_stops_there() {
    let user = gate(&["stuck"]);
    user.write(
        "ship.yaml",
        "name: ship\nsteps:\n  - {id: fix, recipe: gate}\n  - {id: deploy, command: touch deployed}\n",
    );
    run(&user, &["ship.yaml"]).exits(1).reports("at step fix/repair (gave-up)");
    assert!(!user.path("work/deployed").exists());
    user.write("fixed", "");
    script(&user, &["stuck", "done"]);
    user.towpath(&["resume", user.run().as_str(), "--script", "answers.jsonl"]).exits(0);
    assert!(user.path("work/deployed").exists());
}

#[test]
fn a_built_in_that_gave_up_is_no_success() {
    let user = user(&[OTHER]);
    user.git("work", &["init", "-q"]);
    run(&user, &["review-and-commit"]).exits(1).reports("(user-provided-other)");
    script(&user, &["blocked"]);
    run(&user, &["implement-and-review"]).exits(1).reports("(implementation-blocked)");
    script(&user, &["Which database?\n\n{\"outcome\": \"needs-input\"}"]);
    let printed = run(&user, &["document-design"]).exits(10);
    let printed = printed.reports("document  reported needs-input, and leaves the decision to you");
    printed.reports("Which database?").reports("--again document").reports("--outcome NAME");
    under_the_name(&user, &["document-design"]).exits(0).shows("Exit: clarification-needed");
}

#[test]
fn a_question_is_answered_by_the_user() {
    let user = gate(&[&format!("Left or right?\n\n{}", "{\"outcome\": \"unclear\"}"), "done"]);
    run(&user, &["gate.yaml"]).exits(10).reports("Left or right?");
    let id = user.run();
    user.towpath(&["show", id.as_str()]).exits(0).shows("? repair").shows("Left or right?");
    user.towpath(&["resume", id.as_str()]).exits(10);
    user.write("fixed", "");
    let again = ["resume", id.as_str(), "--again", "repair", "--script", "answers.jsonl"];
    user.towpath(&again).exits(0).reports("green");
    assert_eq!(calls(&user), ["repair prompt new", "repair#2 prompt resume"]);

    script(&user, &["unclear"]);
    let _ = std::fs::remove_file(user.path("work/fixed"));
    run(&user, &["gate.yaml"]).exits(10);
    let decided = ["--done", "repair", "--outcome", "stuck"];
    let printed = user.towpath(&[&["resume", user.run().as_str()], &decided[..]].concat());
    printed.exits(1).reports("(gave-up)").reports("0 ran now");
}

#[test]
fn under_the_other_name_exits_are_code_0_and_the_record_is_the_same() {
    for (answer, code, exit) in [
        ("stuck", 2, "Exit: gave-up\n"),
        ("blocked", 0, "Exit: is-blocked\n"),
        ("unclear", 0, "Exit: which-one\n"),
        (OTHER, 0, "Exit: something-else — the disk is full\n"),
    ] {
        let user = gate(&[answer]);
        let printed = under_the_name(&user, &["gate.yaml", "--verbose"]).exits(code);
        assert!(printed.stdout.ends_with(exit), "{}", printed.stdout);
        assert_eq!(
            printed.stderr.matches("[orchestration] Exit:").count(),
            1,
            "{}",
            printed.stderr
        );
        assert_eq!(printed.stderr.contains("towpath resume"), code != 0, "{}", printed.stderr);
        let status = shown(&user)["status"].clone();
        assert_eq!(status, if answer == "unclear" { "asking" } else { "failed" });
    }
}

#[test]
fn what_an_agent_writes_has_no_power_over_the_terminal() {
    let hostile = "\u{1b}[31mred\u{1b}[0m \u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{1b}[H\u{202e}end";
    let user = user(&[&format!("{hostile}\n\n{}", reporting("fine")), &reporting("fine")]);
    user.write("list.yaml", "name: list\nsteps:\n  - {id: ask, prompt: hello}\n");
    let with = |arguments: &[&str]| -> Vec<String> {
        let all = arguments.iter().chain(&["--script", "answers.jsonl"]);
        all.map(|word| (*word).to_owned()).collect()
    };
    let lines = [
        with(&["run", "fix.yaml"]),
        with(&["run", "list.yaml"]),
        with(&["run", "list.yaml", "--quiet"]),
        with(&["as", "agent-recipes", "fix.yaml"]),
        vec!["logs".to_owned()],
    ];
    for line in lines {
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        let seen = user.on_terminal(&words, 80, "");
        assert!(seen.contains("\u{1b}[31mred\u{1b}[0m end"), "{line:?}: {seen:?}");
        for bad in ["\u{1b}]", "\u{1b}[2J", "\u{1b}[H", "\u{202e}", "aGk="] {
            assert!(!seen.contains(bad), "{line:?}: {bad:?} in {seen:?}");
        }
    }
    assert!(user.towpath(&["logs"]).exits(0).stdout.contains(hostile), "in a pipe the bytes stay");
    assert!(run(&user, &["list.yaml"]).exits(0).stdout.contains(hostile));
}

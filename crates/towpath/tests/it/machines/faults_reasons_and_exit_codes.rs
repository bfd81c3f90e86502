//! Every row of what can go wrong with an answer, a limit, a program or a recipe, and what each
//! leads to: the exit code, the reason, the record.

use super::{calls, prompts, run, script, shown, user};
use crate::support::{User, kill_hard, until};
use serde_json::{Value, json};

/// What an agent may answer instead of an outcome: the answer, the error, the line that was meant.
const FAULTS: [(&str, &str, Option<&str>); 6] = [
    ("I looked at it.", "No JSON block found in response", None),
    ("So:\n{outcome: fine}", "Invalid JSON", Some("{outcome: fine}")),
    (
        "{\"result\": \"fine\"}",
        "JSON is missing the 'outcome' field",
        Some("{\"result\": \"fine\"}"),
    ),
    (
        "{\"outcome\": \"great\"}",
        "Outcome 'great' is not one of: fine, broken, other",
        Some("{\"outcome\": \"great\"}"),
    ),
    (
        "{\"outcome\": \"other\"}",
        "Outcome 'other' requires a non-empty 'otherDescription'",
        Some("{\"outcome\": \"other\"}"),
    ),
    ("{\"outcome\": 3}", "'outcome' must be a string", Some("{\"outcome\": 3}")),
];

#[test]
fn an_answer_without_an_outcome_is_reminded_of_once() {
    for (answer, error, _) in FAULTS {
        let user = user(&[answer, "fine"]);
        run(&user, &["fix.yaml"]).exits(0);
        assert_eq!(calls(&user), ["look prompt new", "look reminder resume"], "{answer}");
        let reminder = &prompts(&user)[1];
        assert!(reminder.contains(&format!("\nError: {error}")), "{answer}: {reminder}");
        assert!(
            reminder.ends_with(
                "\n\nValid responses:\n\n{\"outcome\": \"broken\"}\n{\"outcome\": \"fine\"}\n\
                 {\"outcome\": \"other\", \"otherDescription\": \"<brief description>\"}\n\n\
                 Respond with ONLY the JSON block, nothing else."
            ),
            "{reminder}"
        );
        assert_eq!(shown(&user)["machine"]["stepRetryCounts"], json!({ "look": 1 }));
    }
}

#[test]
fn a_second_answer_without_an_outcome_ends_the_run() {
    for (answer, error, meant) in FAULTS {
        let user = user(&[answer, answer, "fine"]);
        run(&user, &["fix.yaml"]).exits(1);
        assert_eq!(calls(&user).len(), 2, "{answer}");
        let shown = shown(&user);
        assert_eq!(shown["machine"]["reason"], "orchestration-error");
        for call in shown["steps"][0]["calls"].as_array().expect("calls") {
            assert_eq!(call["success"], false, "{answer}");
            assert!(call["error"].as_str().is_some_and(|e| e.starts_with(error)), "{call}");
            assert_eq!(call["malformedJson"].as_str(), meant, "{answer}");
        }
        let again = ["as", "agent-recipes", "fix.yaml", "--script", "answers.jsonl"];
        let printed = user.towpath(&again).exits(2);
        assert!(printed.stdout.ends_with("\nExit: orchestration-error\n"), "{}", printed.stdout);
    }
}

#[test]
fn every_visit_has_a_reminder_of_its_own() {
    let user = user(&["No.", "broken", "Hm.", "fixed", "Well.", "fine"]);
    run(&user, &["fix.yaml"]).exits(0);
    let kinds: Vec<String> = calls(&user).iter().map(|c| c.replace(" resume", "")).collect();
    assert_eq!(
        kinds,
        [
            "look prompt new",
            "look reminder",
            "fix prompt",
            "fix reminder",
            "look#2 prompt",
            "look#2 reminder"
        ]
    );
}

#[test]
fn a_limit_ends_the_run_with_its_own_reason_and_code() {
    let loops = ["broken", "fixed", "broken", "fixed", "broken", "fixed"];
    for (flags, steps, reason) in [
        (&[][..], 6, "max-step-visits-exceeded:look"),
        (&["--max-visits", "1"], 2, "max-step-visits-exceeded:look"),
        (&["--max-steps", "3"], 3, "max-total-steps"),
    ] {
        let user = user(&loops[..steps]);
        let printed = run(&user, &[&["fix.yaml"], flags].concat()).exits(3);
        assert!(printed.stderr.contains(&format!("({reason})")), "{}", printed.stderr);
        assert_eq!(calls(&user).len(), steps);
        assert_eq!(shown(&user)["machine"]["reason"], reason);
        let name = ["as", "agent-recipes", "fix.yaml", "--script", "answers.jsonl"];
        let printed = user.towpath(&[&name[..], flags].concat()).exits(3);
        assert_eq!(printed.stdout.lines().last(), Some(format!("Exit: {reason}").as_str()));
    }
}

#[test]
fn an_agent_that_crashes_or_takes_too_long_ends_the_run_as_a_backend_error() {
    for error in ["crash", "timeout", "auth", "overloaded", "the disk is full"] {
        let line = json!({ "error": error, "text": "the reason" }).to_string();
        let user = user(&["broken", &line]);
        run(&user, &["fix.yaml"]).exits(4);
        let shown = shown(&user);
        assert_eq!(shown["machine"]["reason"], "backend-error", "{error}");
        assert_eq!(shown["machine"]["currentStep"], "fix");
        let name = ["as", "agent-recipes", "fix.yaml", "--script", "answers.jsonl"];
        let printed = user.towpath(&name).exits(4);
        assert_eq!(printed.stdout.lines().last(), Some("Exit: backend-error"), "{error}");
    }
}

#[test]
fn a_call_that_outlives_its_time_is_ended() {
    let user = user(&[]);
    user.write("answers.jsonl", "{\"text\": \"late\", \"delay_ms\": 60000}\n");
    run(&user, &["fix.yaml", "--step-timeout", "1"]).exits(4).reports("timed out after 1 s");
    assert_eq!(shown(&user)["machine"]["reason"], "backend-error");
}

#[test]
fn a_recipe_that_is_not_valid_ends_before_any_call_with_the_bare_list() {
    let user = user(&["fine"]);
    let broken = user.read("fix.yaml").replace("nextStep: look", "nextStep: lok");
    user.write("fix.yaml", &broken.replace("model: opus", "model: gpt-4"));
    let printed = user.towpath(&["as", "agent-recipes", "fix.yaml", "--script", "answers.jsonl"]);
    let printed = printed.exits(1).prints("");
    let list: Value = serde_json::from_str(&printed.stderr).expect("the list, and nothing else");
    assert_eq!(
        list,
        json!([
            { "error":
                "Invalid model 'gpt-4' at step fix. Valid models: haiku, sonnet, opus" },
            { "error": "Next step lok not found in steps (step fix, outcome fixed)" },
        ])
    );
    run(&user, &["fix.yaml"]).exits(2).reports("did you mean 'look'?");
    assert!(calls(&user).is_empty() && !user.has_journal());
}

#[test]
fn a_session_that_another_is_in_is_locked_until_they_are_gone() {
    let user = user(&["fine"]);
    user.write("slow.jsonl", "{\"text\": \"late\", \"delay_ms\": 60000}\n");
    let slow = ["run", "fix.yaml", "--session", "s1", "--script", "slow.jsonl"];
    let mut other = user.start(&[&slow[..], &["--calls", "slow-calls.jsonl"]].concat());
    until("the first run asks", || !user.read("slow-calls.jsonl").is_empty());
    let in_it = ["fix.yaml", "--session", "s1", "--events-file", "events.jsonl"];
    run(&user, &in_it).exits(5).reports("session locked: s1 is in use");
    let events = user.read("events.jsonl");
    let last: Value = serde_json::from_str(events.lines().last().expect("events")).expect("JSON");
    assert_eq!((&last["type"], &last["session_id"]), (&json!("session_locked"), &json!("s1")));
    kill_hard(&mut other);
    script(&user, &["fine"]);
    run(&user, &["fix.yaml", "--session", "s1"]).exits(0);
    let state = user.store().directory().join("sessions");
    let locks = std::fs::read_dir(state).expect("the directory of the locks").count();
    assert_eq!(locks, 0, "no lock is left behind");
}

#[test]
fn unknown_things_of_the_command_line_are_configuration_errors() {
    let user = User::new();
    for arguments in [
        &["no-such-recipe"][..],
        &["review-and-commit", "--backend", "gpt"],
        &["review-and-commit", "--model", "gpt-4"],
        &["review-and-commit", "--max-visits", "0"],
        &["review-and-commit", "--frobnicate"],
        &[],
    ] {
        user.towpath(&[&["as", "agent-recipes"], arguments].concat()).exits(5).prints("");
    }
    assert!(!user.has_journal() || user.runs() == 0);
}

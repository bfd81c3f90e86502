//! What is told of a run: events as text and as JSON, on stderr and in a file, and where a machine
//! stands, from its first step to a new session.

use crate::support::Person;
use crate::{calls, person, run, script, shown};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FIELDS: [&str; 12] = [
    "sessionId",
    "recipeId",
    "step",
    "stepCount",
    "visitCount",
    "outcome",
    "error",
    "model",
    "promptLength",
    "responseLength",
    "durationMs",
    "costUsd",
];

fn lines(text: &str) -> Vec<Value> {
    let of = text.lines().filter(|line| line.starts_with('{'));
    of.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn events_as_text_are_these_lines() {
    let person = Person::new();
    script(&person, &["complete", "no-issues", "committed"]);
    let said = run(&person, &["implement-and-review", "--session", "abc-123", "--events", "text"]);
    let events: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(
        events,
        [
            "[recipe:started] implement-and-review (session: abc-123)",
            "[step:started]   implement (visit 1/3, total 1/100)",
            "[step:outcome]   complete",
            "[step:transition] implement → code-review",
            "[step:started]   code-review (visit 1/3, total 2/100)",
            "[step:outcome]   no-issues",
            "[step:transition] code-review → commit",
            "[step:started]   commit (visit 1/3, total 3/100) [model: haiku]",
            "[step:outcome]   committed",
            "[recipe:exited]  changes-committed",
        ]
    );
}

#[test]
fn events_as_json_have_their_types_and_all_twelve_fields() {
    let person = person(&["No.", "broken", "mended", "fine"]);
    let flags = ["--session", "s1", "--events", "json", "--events-file", "events.jsonl"];
    let said = run(&person, &[&["mend.yaml"], &flags[..]].concat()).exits(0);
    let events = lines(&person.read("events.jsonl"));
    assert_eq!(events, lines(&said.stderr), "the file has the same lines");
    let types: Vec<&str> = events.iter().filter_map(|e| e["type"].as_str()).collect();
    let visit = ["recipe_step_started", "recipe_step_outcome", "recipe_step_transition"];
    let mut expected = vec!["recipe_started", visit[0], "orchestration_retry", visit[1], visit[2]];
    expected.extend(visit);
    expected.extend([visit[0], visit[1], "recipe_exited", "turn_complete"]);
    assert_eq!(types, expected);
    for event in &events {
        let keys: BTreeSet<&str> =
            event.as_object().expect("an object").keys().map(String::as_str).collect();
        assert!(FIELDS.iter().all(|field| keys.contains(field)), "{event}");
        assert_eq!((&event["session_id"], &event["sessionId"]), (&json!("s1"), &json!("s1")));
        assert_eq!(event["recipeId"], "mend");
    }
    let of = |kind: &str| events.iter().filter(|e| e["type"] == kind).collect::<Vec<_>>();
    let started = of("recipe_started")[0];
    assert_eq!(
        (&started["recipe_id"], &started["recipe_label"], &started["current_step"]),
        (&json!("mend"), &json!("Mend"), &json!("look"))
    );
    assert_eq!(started["step_count"], 1);
    let retry = of("orchestration_retry")[0];
    assert_eq!(
        (&retry["step"], &retry["error"]),
        (&json!("look"), &json!("No JSON block found in response"))
    );
    let moved = of("recipe_step_transition")[1];
    assert_eq!((&moved["from_step"], &moved["to_step"]), (&json!("mend"), &json!("look")));
    let again = of("recipe_step_started")[2];
    assert_eq!(
        (&again["step"], &again["visitCount"], &again["stepCount"]),
        (&json!("look"), &json!(2), &json!(3))
    );
    let mended = of("recipe_step_outcome")[1];
    assert_eq!((&mended["outcome"], &mended["model"]), (&json!("mended"), &json!("opus")));
    assert!(mended["responseLength"].as_u64().is_some_and(|n| n == 30), "{mended}");
    assert!(mended["durationMs"].is_u64() && mended["costUsd"].is_null(), "{mended}");
    assert_eq!(of("recipe_exited")[0]["reason"], "all-fine");
}

#[test]
fn an_events_file_is_continued_and_one_that_cannot_be_written_is_an_error() {
    let person = person(&["fine"]);
    for times in 1..=2 {
        run(&person, &["mend.yaml", "--events-file", "events.jsonl"]).exits(0);
        assert_eq!(lines(&person.read("events.jsonl")).len(), 5 * times);
    }
    let before = person.runs();
    run(&person, &["mend.yaml", "--events-file", "no/such/place"]).exits(2);
    assert_eq!(person.runs(), before, "nothing is recorded");
    run(&person, &["mend.yaml", "--events-file", "/dev/full"]).exits(5);
}

#[test]
fn steps_of_a_called_machine_are_told_by_their_path_each_once() {
    let person = person(&["fine"]);
    let outer = "name: outer\nsteps:\n  - {id: call, recipe: mend}\n  - {id: say, command: echo}\n";
    person.write("outer.yaml", outer);
    let said = run(&person, &["outer.yaml", "--events", "text"]).exits(0);
    let events: Vec<&str> = said.stderr.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(
        events,
        [
            "[recipe:started] outer",
            "[step:started]   call",
            "[step:started]   call/look (visit 1/3, total 1/100)",
            "[step:outcome]   fine",
            "[step:outcome]   completed",
            "[step:started]   say",
            "[step:outcome]   completed",
            "[recipe:exited]  done",
        ]
    );
}

#[test]
fn a_machine_begins_at_its_first_step_with_one_visit() {
    let person = person(&["{\"error\": \"limit\"}"]);
    run(&person, &["mend.yaml"]).exits(75);
    let state = &shown(&person)["machine"];
    let started = state["startTime"].as_u64().expect("a time");
    assert_eq!(
        *state,
        json!({
            "recipeId": "mend",
            "currentStep": "look",
            "stepCount": 1,
            "stepVisitCounts": { "look": 1 },
            "stepRetryCounts": {},
            "startTime": started,
            "sessionCreated": false,
            "restarts": 0,
            "reason": null,
            "description": null,
        })
    );
}

#[test]
fn a_call_is_shown_with_what_it_reported() {
    let other = "{\"outcome\": \"other\", \"otherDescription\": \"the tests need a key\"}";
    let person = person(&["broken", "Hm.", other]);
    run(&person, &["mend.yaml"]).exits(0);
    let shown = shown(&person);
    let calls = |step: usize| {
        let calls = shown["steps"][step]["calls"].as_array().expect("calls");
        let mut calls = calls.clone();
        calls.iter_mut().for_each(|call| {
            let call = call.as_object_mut().expect("an object");
            call.retain(|key, _| key != "cost_usd" && !key.ends_with("_tokens"));
        });
        Value::from(calls)
    };
    assert_eq!(
        calls(0),
        json!([{ "success": true, "outcome": "broken", "description": null, "kind": "prompt" }])
    );
    assert_eq!(
        calls(1),
        json!([
            { "success": false, "error": "No JSON block found in response",
              "malformedJson": null, "kind": "prompt" },
            { "success": true, "outcome": "other", "description": "the tests need a key",
              "kind": "reminder" },
        ])
    );
    assert_eq!(shown["machine"]["reason"], "user-provided-other");
    assert_eq!(shown["machine"]["description"], "the tests need a key");
}

#[test]
fn a_restart_is_a_new_session_with_a_fresh_state() {
    let person = Person::new();
    let one = ["complete", "no-issues", "committed"];
    script(&person, &[&one[..], &["no-tasks"]].concat());
    let said = run(&person, &["implement-and-review-all", "--events", "text"]).exits(0);
    let how: Vec<String> = calls(&person);
    assert_eq!(how[0], "implement prompt new");
    assert_eq!(how[2], "commit prompt resume");
    assert_eq!(how[3], "implement#2 prompt new");
    let session = |at: usize| lines(&person.read("calls.jsonl"))[at]["session"].clone();
    assert_eq!(session(0), session(2));
    assert_ne!(session(0), session(3));
    let begun = said.stderr.lines().filter(|line| line.starts_with("[recipe:started]"));
    assert_eq!(begun.count(), 2, "{}", said.stderr);
    for line in [
        "[step:transition] commit → RESTART implement-and-review-all",
        "[recipe:exited]  no-tasks-available",
    ] {
        assert!(said.stderr.contains(line), "{}", said.stderr);
    }
    let state = &shown(&person)["machine"];
    assert_eq!(state["restarts"], 1);
    assert_eq!(state["stepCount"], 1);
    assert_eq!(state["stepVisitCounts"], json!({ "implement": 1 }));
}

//! What is reported of a run: events as text and as JSON, on stderr and in a file, and where a machine
//! is, from its first step to a new session.

use super::{calls, run, script, shown, under_the_name, user};
use crate::support::User;
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

pub fn lines(text: &str) -> Vec<Value> {
    let of = text.lines().filter(|line| line.starts_with('{'));
    of.map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn events_as_text_are_these_lines() {
    let user = User::new();
    script(&user, &["complete", "no-issues", "committed"]);
    let printed = run(&user, &["implement-and-review", "--session", "abc-123", "--events", "text"]);
    let events: Vec<&str> = printed.stderr.lines().filter(|line| line.starts_with('[')).collect();
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
    let user = user(&["No.", "broken", "fixed", "fine"]);
    let flags = ["--session", "s1", "--events", "json", "--events-file", "events.jsonl"];
    let printed = run(&user, &[&["fix.yaml"], &flags[..]].concat()).exits(0);
    let events = lines(&user.read("events.jsonl"));
    assert_eq!(events, lines(&printed.stderr), "the file has the same lines");
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
        assert_eq!(event["recipeId"], "fix");
    }
    let of = |kind: &str| events.iter().filter(|e| e["type"] == kind).collect::<Vec<_>>();
    let started = of("recipe_started")[0];
    assert_eq!(
        (&started["recipe_id"], &started["recipe_label"], &started["current_step"]),
        (&json!("fix"), &json!("Fix"), &json!("look"))
    );
    assert_eq!(started["step_count"], 1);
    let retry = of("orchestration_retry")[0];
    assert_eq!(
        (&retry["step"], &retry["error"]),
        (&json!("look"), &json!("No JSON block found in response"))
    );
    let moved = of("recipe_step_transition")[1];
    assert_eq!((&moved["from_step"], &moved["to_step"]), (&json!("fix"), &json!("look")));
    let again = of("recipe_step_started")[2];
    assert_eq!(
        (&again["step"], &again["visitCount"], &again["stepCount"]),
        (&json!("look"), &json!(2), &json!(3))
    );
    let fixed = of("recipe_step_outcome")[1];
    assert_eq!((&fixed["outcome"], &fixed["model"]), (&json!("fixed"), &json!("opus")));
    assert!(fixed["responseLength"].as_u64().is_some_and(|n| n == 29), "{fixed}");
    assert!(fixed["durationMs"].is_u64() && fixed["costUsd"].is_null(), "{fixed}");
    assert_eq!(of("recipe_exited")[0]["reason"], "all-fine");
}

#[test]
fn after_a_reminder_events_carry_the_whole_visit_and_the_last_one_the_totals() {
    let user = user(&[]);
    let line = |text: &str, usd: f64| {
        json!({ "text": text, "cost_usd": usd, "delay_ms": 60 }).to_string() + "\n"
    };
    let report = |outcome: &str| format!("{{\"outcome\": \"{outcome}\"}}");
    let mut answers = line("No.", 0.25) + &line(&report("broken"), 0.5);
    answers += &line(&report("fixed"), 1.0);
    answers += &json!({ "text": report("fine") }).to_string();
    user.write("answers.jsonl", &answers);
    let printed = run(&user, &["fix.yaml", "--events", "json"]).exits(0);
    let events = lines(&printed.stderr);
    let prompts: Vec<usize> =
        super::prompts(&user).iter().map(|prompt| prompt.chars().count()).collect();
    let look = of(&events, OUTCOME, "look");
    assert_eq!((&look["costUsd"], &look["costComplete"]), (&json!(0.75), &json!(true)));
    assert_eq!(look["promptLength"], prompts[0] + prompts[1], "the prompt and the reminder");
    assert_eq!(look["responseLength"], report("broken").len(), "of the answer that counts");
    assert!(look["durationMs"].as_u64().is_some_and(|ms| ms >= 120), "{look}");
    let retry = of(&events, "orchestration_retry", "look");
    assert_eq!((&retry["costUsd"], &retry["promptLength"]), (&json!(0.25), &json!(prompts[0])));
    let fix = of(&events, OUTCOME, "fix");
    assert_eq!((&fix["costUsd"], &fix["promptLength"]), (&json!(1.0), &json!(prompts[2])));
    let exited = events.iter().find(|event| event["type"] == "recipe_exited").expect("the end");
    assert_eq!((&exited["costUsd"], &exited["costComplete"]), (&json!(1.75), &json!(false)));
    assert_eq!(exited["promptLength"], prompts.iter().sum::<usize>());
    assert!(exited["durationMs"].as_u64().is_some_and(|ms| ms >= 180), "{exited}");
}

#[test]
fn an_events_file_is_continued_and_one_that_cannot_be_written_is_an_error() {
    let user = user(&["fine"]);
    for times in 1..=2 {
        run(&user, &["fix.yaml", "--events-file", "events.jsonl"]).exits(0);
        assert_eq!(lines(&user.read("events.jsonl")).len(), 5 * times);
    }
    let before = user.runs();
    run(&user, &["fix.yaml", "--events-file", "no/such/directory"]).exits(2);
    assert_eq!(user.runs(), before, "nothing is recorded");
    run(&user, &["fix.yaml", "--events-file", "/dev/full"]).exits(5);
    let printed = run(&user, &["fix.yaml", "--events-file", "/dev/full", "--json"]).exits(5);
    assert_eq!(printed.json()["exit_code"], 5);
}

#[test]
fn steps_of_a_called_machine_are_reported_by_their_path_each_once() {
    let user = user(&["fine"]);
    let outer =
        "name: outer\nsteps:\n  - {id: call, recipe: fix}\n  - {id: print, command: echo}\n";
    user.write("outer.yaml", outer);
    let printed = run(&user, &["outer.yaml", "--events", "text"]).exits(0);
    let events: Vec<&str> = printed.stderr.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(
        events,
        [
            "[recipe:started] outer",
            "[step:started]   call",
            "[step:started]   call/look (visit 1/3, total 1/100)",
            "[step:outcome]   fine",
            "[step:outcome]   completed",
            "[step:started]   print",
            "[step:outcome]   completed",
            "[recipe:exited]  done",
        ]
    );
}

/// Every step is reported, in whichever kind of recipe it is, also one that continues after a limit.
#[test]
fn steps_of_lists_are_reported_within_machines_and_after_a_limit() {
    let user = User::new().file("list.yaml", LIST).file(
        "outer.yaml",
        "id: outer\nlabel: O\ndescription: d\ninitialStep: call\nguardrails: {}\nsteps:\n  call: \
         {recipe: list, outcomes: [success, failure], onOutcome: {success: {action: exit, reason: \
         fine}, failure: {action: exit, reason: bad}}}\n",
    );
    user.write(
        "answers.jsonl",
        "{\"error\": \"limit\", \"text\": \"slow\"}\n{\"text\": \"good\", \"cost_usd\": 0.25}\n",
    );
    let with = ["--script", "answers.jsonl", "--events-file", "events.jsonl"];
    user.towpath(&[&["run", "outer.yaml"], &with[..]].concat()).exits(75);
    user.towpath(&[&["resume", "--last"], &with[..]].concat()).exits(0);
    let reported: Vec<(String, Value, Value, Value)> = lines(&user.read("events.jsonl"))
        .iter()
        .filter(|event| event["step"].as_str().is_some_and(|step| step.starts_with("call/")))
        .filter(|event| event["type"].as_str().is_some_and(|t| t.starts_with("recipe_step")))
        .map(|event| {
            let kind = event["type"].as_str().expect("a type");
            let name = format!("{kind} {}", event["step"].as_str().expect("a step"));
            (name, event["stepCount"].clone(), event["model"].clone(), event["costUsd"].clone())
        })
        .collect();
    let (none, first, second) = (Value::Null, Value::from(1), Value::from(2));
    let row = |name: &str, count: &Value, model: Option<&str>, cost: &Value| {
        (name.to_owned(), count.clone(), Value::from(model), cost.clone())
    };
    assert_eq!(
        reported,
        [
            row("recipe_step_started call/make", &first, None, &none),
            row("recipe_step_outcome call/make", &first, None, &none),
            row("recipe_step_started call/ask", &second, None, &none),
            row("recipe_step_started call/ask", &second, None, &none),
            row("recipe_step_outcome call/ask", &second, Some("opus"), &Value::from(0.25)),
        ]
    );
}

const LIST: &str =
    "name: list\nsteps:\n  - {id: make, command: echo x}\n  - {id: ask, prompt: y, model: opus}\n";

#[test]
fn a_reminder_is_reported_in_lists_too() {
    let user = User::new().file(
        "list.yaml",
        "name: list\nsteps:\n  - {id: ask, prompt: Give JSON., parse_json: true}\n",
    );
    user.write("answers.jsonl", "\"not json\"\n\"{\\\"x\\\": 1}\"\n");
    let printed = run(&user, &["list.yaml", "--events", "text"]).exits(0);
    assert!(
        printed.stderr.contains("[step:retry]     ask: no JSON in the answer\n"),
        "{printed:?}"
    );
}

#[test]
fn a_machine_begins_at_its_first_step_with_one_visit() {
    let user = user(&["{\"error\": \"limit\"}"]);
    run(&user, &["fix.yaml"]).exits(75);
    let state = &shown(&user)["machine"];
    let started = state["startTime"].as_u64().expect("a time");
    assert_eq!(
        *state,
        json!({
            "recipeId": "fix",
            "currentStep": "look",
            "stepCount": 1,
            "stepVisitCounts": { "look": 1 },
            "stepRetryCounts": {},
            "startTime": started,
            "sessionId": state["sessionId"],
            "sessionCreated": false,
            "restarts": 0,
            "reason": "backend-error",
            "description": null,
        })
    );
}

/// The events of one kind for a step.
fn of<'a>(events: &'a [Value], kind: &str, step: &str) -> &'a Value {
    let mut found = events.iter().filter(|e| e["type"] == kind && e["step"] == step);
    found.next().unwrap_or_else(|| panic!("no {kind} of {step}"))
}

const STARTED: &str = "recipe_step_started";
const OUTCOME: &str = "recipe_step_outcome";

#[test]
fn steps_side_by_side_and_one_after_the_other_have_their_own_fields() {
    let user = user(&[]);
    let slow = "{\"text\":\"Looked.\",\"delay_ms\":200,\"cost_usd\":0.5}\n";
    user.write("answers.jsonl", &slow.repeat(3));
    user.write(
        "side.yaml",
        "name: side\nsteps:\n  - {id: ask, prompt: Look., parallel_group: g}\n  \
         - {id: cmd, command: sleep 0.6, parallel_group: g}\n",
    );
    user.write(
        "row.yaml",
        "name: row\nsteps:\n  - {id: ask, prompt: Look.}\n  - {id: cmd, command: echo}\n  \
         - {id: ask2, prompt: Again.}\n",
    );
    for recipe in ["side.yaml", "row.yaml"] {
        let printed = run(&user, &[recipe, "--events", "json"]).exits(0);
        let events = lines(&printed.stderr);
        let ask = of(&events, OUTCOME, "ask");
        assert!(ask["sessionId"].is_string() && ask["costUsd"] == 0.5, "{ask}");
        for kind in [STARTED, OUTCOME] {
            let cmd = of(&events, kind, "cmd");
            for field in ["sessionId", "session_id", "promptLength", "responseLength", "costUsd"] {
                assert!(cmd[field].is_null(), "{recipe}: {field} of {cmd}");
            }
            assert_eq!(cmd["recipeId"], recipe.trim_end_matches(".yaml"));
        }
        assert!(of(&events, OUTCOME, "cmd")["durationMs"].is_u64());
        if recipe == "row.yaml" {
            assert!(of(&events, STARTED, "ask2")["sessionId"].is_null());
            assert_ne!(of(&events, OUTCOME, "ask2")["sessionId"], ask["sessionId"]);
        }
    }
}

#[test]
fn a_called_machine_and_the_step_that_calls_it_have_their_own_fields() {
    let user = user(&["broken", "fixed", "fine"]);
    user.write("list.yaml", "name: list\nsteps:\n  - {id: call, recipe: fix}\n");
    let printed = run(&user, &["list.yaml", "--events", "json"]).exits(0);
    let events = lines(&printed.stderr);
    let inner = of(&events, STARTED, "call/fix");
    assert_eq!(
        (&inner["recipeId"], &inner["stepCount"], &inner["visitCount"]),
        (&json!("fix"), &json!(2), &json!(1))
    );
    assert!(inner["sessionId"].is_string());
    assert_eq!(inner["sessionId"], of(&events, OUTCOME, "call/look")["sessionId"]);
    let call = of(&events, OUTCOME, "call");
    assert_eq!((&call["recipeId"], &call["stepCount"]), (&json!("list"), &json!(1)));
    for field in ["sessionId", "visitCount", "promptLength", "responseLength", "costUsd", "model"] {
        assert!(call[field].is_null(), "{field} of {call}");
    }
    let exited = events.iter().find(|event| event["type"] == "recipe_exited").expect("the end");
    assert_eq!((&exited["recipeId"], &exited["sessionId"]), (&json!("list"), &Value::Null));
}

#[test]
fn a_restart_into_another_recipe_has_its_id_and_label() {
    let user = user(&["fixed", "fine"]);
    user.write(
        "first.yaml",
        "id: first\nlabel: The first\ndescription: Begins\ninitialStep: begin\nguardrails: {}\n\
         steps:\n  begin:\n    prompt: Begin.\n    outcomes: [fixed, other]\n    onOutcome:\n      \
         fixed: { action: restart-new-session, recipeId: fix }\n      \
         other: { action: exit, reason: user-provided-other }\n",
    );
    let printed = run(&user, &["first.yaml", "--events", "json"]).exits(0);
    let events = lines(&printed.stderr);
    let begun: Vec<Value> = events
        .iter()
        .filter(|event| event["type"] == "recipe_started")
        .map(|e| json!([e["recipe_id"], e["recipe_label"], e["recipeId"], e["current_step"]]))
        .collect();
    assert_eq!(
        begun,
        [json!(["first", "The first", "first", "begin"]), json!(["fix", "Fix", "fix", "look"])]
    );
}

#[test]
fn a_visit_that_continues_is_reported_with_what_is_known_of_it() {
    let user = user(&["broken", "{\"error\":\"crash\"}"]);
    run(&user, &["fix.yaml"]).exits(4);
    script(&user, &["broken", "{\"error\":\"crash\"}", "fixed", "fine"]);
    let id = user.run();
    let printed = user.towpath(&["resume", id.as_str(), "--events", "json"]).exits(0);
    let events = lines(&printed.stderr);
    let again = of(&events, STARTED, "fix");
    assert_eq!(
        (&again["recipeId"], &again["stepCount"], &again["visitCount"]),
        (&json!("fix"), &json!(2), &json!(1))
    );
    assert_eq!(of(&events, OUTCOME, "fix")["outcome"], "fixed");
}

#[test]
fn lines_of_both_kinds_are_whole_and_in_their_order() {
    let user = user(&["broken", "fixed", "fine"]);
    let both = ["fix.yaml", "--verbose", "--events", "text"];
    let printed = under_the_name(&user, &both).exits(0);
    let reported: Vec<&str> =
        printed.stderr.lines().take_while(|l| !l.starts_with("Cost")).collect();
    let kinds = ["[orchestration] ", "[recipe:", "[step:"];
    assert!(
        reported.iter().all(|line| kinds.iter().any(|kind| line.starts_with(kind))),
        "{reported:?}"
    );
    let at = |line: &str| reported.iter().position(|reported| *reported == line).expect(line);
    for (first, second) in [
        (
            "[orchestration] Step: look (visit 1/3, total 1/100)",
            "[step:started]   look (visit 1/3, total 1/100)",
        ),
        ("[orchestration] Outcome extracted: broken", "[step:outcome]   broken"),
        ("[step:outcome]   broken", "[orchestration] Transition: look → fix"),
        ("[orchestration] Exit: all-fine", "[recipe:exited]  all-fine"),
    ] {
        assert!(at(first) < at(second), "{first} / {second} in {reported:?}");
    }
}

#[test]
fn a_call_is_shown_with_what_it_reported() {
    let other = "{\"outcome\": \"other\", \"otherDescription\": \"the tests need a key\"}";
    let user = user(&["broken", "Hm.", other]);
    run(&user, &["fix.yaml"]).exits(1);
    let shown = shown(&user);
    let calls = |step: usize| {
        let calls = shown["steps"][step]["calls"].as_array().expect("calls");
        let mut calls = calls.clone();
        for call in &mut calls {
            let call = call.as_object_mut().expect("an object");
            assert_eq!(call["backend"], "scripted");
            let reported = ["success", "outcome", "description", "error", "malformedJson", "kind"];
            call.retain(|key, _| reported.contains(&key.as_str()));
        }
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
    let user = User::new();
    let one = ["complete", "no-issues", "committed"];
    script(&user, &[&one[..], &["no-tasks"]].concat());
    let printed = run(&user, &["implement-and-review-all", "--events", "text"]).exits(0);
    let how: Vec<String> = calls(&user);
    assert_eq!(how[0], "implement prompt new");
    assert_eq!(how[2], "commit prompt resume");
    assert_eq!(how[3], "implement#2 prompt new");
    let session = |at: usize| lines(&user.read("calls.jsonl"))[at]["session"].clone();
    assert_eq!(session(0), session(2));
    assert_ne!(session(0), session(3));
    let begun = printed.stderr.lines().filter(|line| line.starts_with("[recipe:started]"));
    assert_eq!(begun.count(), 2, "{}", printed.stderr);
    for line in [
        "[step:transition] commit → RESTART implement-and-review-all",
        "[recipe:exited]  no-tasks-available",
    ] {
        assert!(printed.stderr.contains(line), "{}", printed.stderr);
    }
    let state = &shown(&user)["machine"];
    assert_eq!(state["restarts"], 1);
    assert_eq!(state["stepCount"], 1);
    assert_eq!(state["stepVisitCounts"], json!({ "implement": 1 }));
    let steps = shown(&user)["steps"].clone();
    assert_eq!((&steps[2]["restarts"], &steps[3]["restarts"]), (&Value::Null, &json!(1)));
    let printed = user.towpath(&["show"]).exits(0).stdout;
    let named = |name: &str| printed.lines().position(|line| line.contains(name)).expect(name);
    assert_eq!(named("↻ restart 1"), named("✓ commit") + 1, "{printed}");
    assert_eq!(named("↻ restart 1"), named("✓ implement#2") - 1, "{printed}");
}

//! How an end without an exit is told: a limit with the program's own message, a call that failed, the
//! session to look into, and a file of events that could not take them.

use super::events::lines;
use super::{person, run, shown, under_the_name};
use crate::support::{Person, signal, until};
use serde_json::{Value, json};

/// A limit with all that a program may say of it.
const LIMIT: &str = "{\"error\":\"limit\",\"text\":\"You have hit your limit\",\
                     \"until\":\"2030-01-31T12:00:00Z\"}";

#[test]
fn a_step_waits_with_the_machine_that_it_calls() {
    let person = person(&["{\"error\": \"limit\"}"]);
    person.write(
        "list.yaml",
        "name: list\nsteps:\n  - {id: call, recipe: mend}\n  - {id: b, command: ls}\n",
    );
    let told = run(&person, &["list.yaml", "--json"]).exits(75).json();
    let shown = person.towpath(&["show", person.run().as_str(), "--json"]).exits(0).json();
    for steps in [&told["steps"], &shown["steps"]] {
        assert_eq!(
            (&steps[0]["status"], &steps[1]["status"]),
            (&"waiting".into(), &"pending".into())
        );
    }
    let summary = &told["summary"];
    assert_eq!((&summary["unfinished"], &summary["not_reached"]), (&1.into(), &1.into()));
    assert!(shown.get("waiting_until").is_some());
}

#[test]
fn a_limit_is_told_with_its_message_and_its_end_wherever_the_run_is() {
    let person = person(&[LIMIT]);
    let events = ["--verbose", "--events", "text", "--events-file", "events.jsonl"];
    let said = under_the_name(&person, &[&["mend.yaml"], &events[..]].concat()).exits(4);
    assert_eq!(said.stdout, "Exit: backend-error\n");
    // The time is the place's own.
    let says = |start: &str| {
        let line = said.stderr.lines().find(|line| line.starts_with(start));
        assert!(line.is_some_and(|line| line.ends_with(": You have hit your limit")), "{said:?}");
    };
    says("look: limit until 2030-");
    says("[recipe:exited]  backend-error — limit until 2030-");
    let all = lines(&person.read("events.jsonl"));
    let last = all.iter().find(|event| event["type"] == "recipe_exited").expect("the end");
    assert_eq!((&last["reason"], &last["step"]), (&json!("backend-error"), &json!("look")));
    let error = last["error"].as_str().expect("a text");
    assert!(error.starts_with("limit until 2030-") && error.ends_with(": You have hit your limit"));
    let said = run(&person, &["mend.yaml"]).exits(75);
    assert!(said.stderr.contains("for a limit of the agent, until 2030-"), "{}", said.stderr);
    assert!(said.stderr.contains("\n\n  look  You have hit your limit\n\n"), "{}", said.stderr);
    let run_json = run(&person, &["mend.yaml", "--json"]).exits(75).json();
    assert!(run_json["waiting_until"].as_str().is_some_and(|until| until.starts_with("2030-")));
    assert_eq!(run_json["machine"]["reason"], "backend-error");
    assert_eq!(run_json["steps"][0]["error"], "agent: limit: You have hit your limit");
    let shown = person.towpath(&["show", person.run().as_str()]).exits(0);
    assert!(shown.stdout.contains("You have hit your limit"), "{}", shown.stdout);
}

#[test]
fn a_list_that_meets_a_limit_waits_and_says_why() {
    let person = person(&[LIMIT]);
    person.write("list.yaml", "name: list\nsteps:\n  - {id: ask, prompt: Look.}\n");
    let said = run(&person, &["list.yaml", "--events", "text"]).exits(75);
    let exited = "[recipe:exited]  waiting — limit until 2030-";
    assert!(said.stderr.contains(exited), "{}", said.stderr);
}

#[test]
fn a_call_without_an_answer_is_shown_with_what_was_said() {
    for (line, error) in [
        ("{\"error\":\"crash\",\"text\":\"no disk\"}", "agent: crash: no disk"),
        (LIMIT, "agent: limit: You have hit your limit"),
    ] {
        let person = person(&[line]);
        let said = run(&person, &["mend.yaml", "--events", "json"]);
        let call = shown(&person)["steps"][0]["calls"][0].clone();
        assert_eq!(
            (&call["success"], &call["error"], call.get("malformedJson")),
            (&json!(false), &json!(error), Some(&Value::Null)),
        );
        let last = lines(&said.stderr).pop().expect("events");
        assert_eq!(last["type"], "turn_complete");
    }
    let person = person(&["{\"error\":\"crash\",\"text\":\"no disk\"}"]);
    let said = run(&person, &["mend.yaml", "--events", "json"]).exits(4);
    let all = lines(&said.stderr);
    let exited = all.iter().find(|event| event["type"] == "recipe_exited").expect("the end");
    assert_eq!(
        (&exited["reason"], &exited["error"]),
        (&json!("backend-error"), &json!("agent: crash: no disk"))
    );
}

#[test]
fn a_file_of_events_that_is_full_does_not_hide_how_the_run_ended() {
    let person = person(&["fine"]);
    let said = under_the_name(&person, &["mend.yaml", "--events-file", "/dev/full"]).exits(5);
    assert!(said.stdout.ends_with("\nExit: all-fine\n"), "{}", said.stdout);
    let (cost, error) = (said.stderr.find("Cost: "), said.stderr.find("error: --events-file"));
    assert!(cost.is_some() && cost < error, "{}", said.stderr);
    let said = run(&person, &["mend.yaml", "--events-file", "/dev/full"]).exits(5);
    assert!(said.stderr.contains("✓ mend done in"), "{}", said.stderr);
    assert!(said.stderr.trim_end().ends_with("No space left on device (os error 28)"));
    let said = run(&person, &["mend.yaml", "--json", "--events-file", "/dev/full"]).exits(5);
    assert_eq!(said.json()["status"], "done", "one object");
}

#[test]
fn a_machine_that_is_cut_off_names_the_agents_session() {
    let person = person(&["broken", "{\"error\":\"crash\",\"text\":\"no disk\"}"]);
    let session = |person: &Person| {
        let call = lines(&person.read("calls.jsonl")).pop().expect("a call");
        call["session"].as_str().expect("a session").to_owned()
    };
    let said = run(&person, &["mend.yaml"]).exits(4);
    let line = format!("\n  the agent's session: {}\n  nothing is lost: ", session(&person));
    assert!(said.stderr.contains(&line), "{}", said.stderr);
    let said = under_the_name(&person, &["mend.yaml", "--calls", "calls.jsonl"]).exits(4);
    let line = format!("\nthe agent's session: {}\nnothing is lost: ", session(&person));
    assert!(said.stderr.contains(&line), "{}", said.stderr);
    person.write("answers.jsonl", "{\"text\": \"late\", \"delay_ms\": 60000}\n");
    person.write("calls.jsonl", "");
    let slow = ["run", "mend.yaml", "--script", "answers.jsonl", "--calls", "calls.jsonl"];
    let mut child = person.command(&slow).stderr(std::process::Stdio::piped()).spawn().expect("it");
    until("the agent is asked", || !person.read("calls.jsonl").is_empty());
    signal(&child, "-INT");
    let mut told = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    std::io::Read::read_to_string(&mut stderr, &mut told).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(told.contains(&format!("the agent's session: {}\n", session(&person))), "{told}");
}

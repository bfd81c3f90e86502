//! How an end without an exit is reported: a limit with the program's own message, a call that failed, the
//! session to look into, and a file of events that could not take them.

use super::reported_events::lines;
use super::{run, shown, under_the_name, user};
use crate::support::{Signal, User, signal, until};
use serde_json::{Value, json};

/// A limit with all that a program may show of it.
const LIMIT: &str = "{\"error\":\"limit\",\"text\":\"You have hit your limit\",\
                     \"until\":\"2030-01-31T12:00:00Z\"}";

#[test]
fn a_step_waits_with_the_machine_that_it_calls() {
    let user = user(&["{\"error\": \"limit\"}"]);
    user.write(
        "list.yaml",
        "name: list\nsteps:\n  - {id: call, recipe: fix}\n  - {id: b, command: ls}\n",
    );
    let reported = run(&user, &["list.yaml", "--json"]).exits(75).json();
    let shown = user.towpath(&["show", user.run().as_str(), "--json"]).exits(0).json();
    for steps in [&reported["steps"], &shown["steps"]] {
        assert_eq!(
            (&steps[0]["status"], &steps[1]["status"]),
            (&"waiting".into(), &"pending".into())
        );
    }
    let summary = &reported["summary"];
    assert_eq!((&summary["unfinished"], &summary["not_reached"]), (&1.into(), &1.into()));
    assert!(shown.get("waiting_until").is_some());
}

#[test]
fn a_limit_is_reported_with_its_message_and_its_end_wherever_the_run_is() {
    let user = user(&[LIMIT]);
    let events = ["--verbose", "--events", "text", "--events-file", "events.jsonl"];
    let printed = under_the_name(&user, &[&["fix.yaml"], &events[..]].concat()).exits(4);
    assert_eq!(printed.stdout, "Exit: backend-error\n");
    // The time is in the local time zone.
    let reports = |start: &str| {
        let line = printed.stderr.lines().find(|line| line.starts_with(start));
        assert!(
            line.is_some_and(|line| line.ends_with(": You have hit your limit")),
            "{printed:?}"
        );
    };
    reports("look: limit until 2030-");
    reports("[recipe:exited]  backend-error — limit until 2030-");
    let all = lines(&user.read("events.jsonl"));
    let last = all.iter().find(|event| event["type"] == "recipe_exited").expect("the end");
    assert_eq!((&last["reason"], &last["step"]), (&json!("backend-error"), &json!("look")));
    let error = last["error"].as_str().expect("a text");
    assert!(error.starts_with("limit until 2030-") && error.ends_with(": You have hit your limit"));
    let printed = run(&user, &["fix.yaml"]).exits(75);
    assert!(printed.stderr.contains("for a limit of the agent, until 2030-"), "{}", printed.stderr);
    assert!(
        printed.stderr.contains("\n\n  look  You have hit your limit\n\n"),
        "{}",
        printed.stderr
    );
    let run_json = run(&user, &["fix.yaml", "--json"]).exits(75).json();
    assert!(run_json["waiting_until"].as_str().is_some_and(|until| until.starts_with("2030-")));
    assert_eq!(run_json["machine"]["reason"], "backend-error");
    assert_eq!(run_json["steps"][0]["error"], "agent: limit: You have hit your limit");
    let shown = user.towpath(&["show", user.run().as_str()]).exits(0);
    assert!(shown.stdout.contains("You have hit your limit"), "{}", shown.stdout);
}

#[test]
fn a_list_that_meets_a_limit_waits_and_reports_why() {
    let user = user(&[LIMIT]);
    user.write("list.yaml", "name: list\nsteps:\n  - {id: ask, prompt: Look.}\n");
    let printed = run(&user, &["list.yaml", "--events", "text"]).exits(75);
    let exited = "[recipe:exited]  waiting — limit until 2030-";
    assert!(printed.stderr.contains(exited), "{}", printed.stderr);
}

#[test]
fn a_call_without_an_answer_is_shown_with_what_was_reported() {
    for (line, error) in [
        ("{\"error\":\"crash\",\"text\":\"no disk\"}", "agent: crash: no disk"),
        (LIMIT, "agent: limit: You have hit your limit"),
    ] {
        let user = user(&[line]);
        let printed = run(&user, &["fix.yaml", "--events", "json"]);
        let call = shown(&user)["steps"][0]["calls"][0].clone();
        assert_eq!(
            (&call["success"], &call["error"], call.get("malformedJson")),
            (&json!(false), &json!(error), Some(&Value::Null)),
        );
        let last = lines(&printed.stderr).pop().expect("events");
        assert_eq!(last["type"], "turn_complete");
    }
    let user = user(&["{\"error\":\"crash\",\"text\":\"no disk\"}"]);
    let printed = run(&user, &["fix.yaml", "--events", "json"]).exits(4);
    let all = lines(&printed.stderr);
    let exited = all.iter().find(|event| event["type"] == "recipe_exited").expect("the end");
    assert_eq!(
        (&exited["reason"], &exited["error"]),
        (&json!("backend-error"), &json!("agent: crash: no disk"))
    );
}

#[test]
fn a_file_of_events_that_is_full_does_not_hide_how_the_run_ended() {
    let user = user(&["fine"]);
    let printed = under_the_name(&user, &["fix.yaml", "--events-file", "/dev/full"]).exits(5);
    assert!(printed.stdout.ends_with("\nExit: all-fine\n"), "{}", printed.stdout);
    let (cost, error) =
        (printed.stderr.find("Cost: "), printed.stderr.find("error: --events-file"));
    assert!(cost.is_some() && cost < error, "{}", printed.stderr);
    let printed = run(&user, &["fix.yaml", "--events-file", "/dev/full"]).exits(5);
    assert!(printed.stderr.contains("✓ fix done in"), "{}", printed.stderr);
    assert!(printed.stderr.trim_end().ends_with("No space left on device (os error 28)"));
    let printed = run(&user, &["fix.yaml", "--json", "--events-file", "/dev/full"]).exits(5);
    assert_eq!(printed.json()["status"], "done", "one object");
}

#[test]
fn a_machine_that_is_interrupted_names_the_agents_session() {
    let user = user(&["broken", "{\"error\":\"crash\",\"text\":\"no disk\"}"]);
    let session = |user: &User| {
        let call = lines(&user.read("calls.jsonl")).pop().expect("a call");
        call["session"].as_str().expect("a session").to_owned()
    };
    let printed = run(&user, &["fix.yaml"]).exits(4);
    let line = format!("\n  the agent's session: {}\n  nothing is lost: ", session(&user));
    assert!(printed.stderr.contains(&line), "{}", printed.stderr);
    let printed = under_the_name(&user, &["fix.yaml", "--calls", "calls.jsonl"]).exits(4);
    let line = format!("\nthe agent's session: {}\nnothing is lost: ", session(&user));
    assert!(printed.stderr.contains(&line), "{}", printed.stderr);
    user.write("answers.jsonl", "{\"text\": \"late\", \"delay_ms\": 60000}\n");
    user.write("calls.jsonl", "");
    let slow = ["run", "fix.yaml", "--script", "answers.jsonl", "--calls", "calls.jsonl"];
    let mut child = user.command(&slow).stderr(std::process::Stdio::piped()).spawn().expect("it");
    until("the agent is asked", || !user.read("calls.jsonl").is_empty());
    signal(&child, Signal::INT);
    let mut reported = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    std::io::Read::read_to_string(&mut stderr, &mut reported).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(reported.contains(&format!("the agent's session: {}\n", session(&user))), "{reported}");
}

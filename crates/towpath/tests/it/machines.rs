//! State machines as a person meets them at a terminal, beyond the rows of the case files: what every
//! fault leads to, what is told of a run, how it goes on, what its steps may be, and what is said
//! before the first call.

mod endings;
mod events;
mod faults;
mod flags;
mod logs;
mod preflight;
mod principles_table;
mod resume;
mod step_kinds;

use crate::support::Person;
use serde_json::Value;

/// Two agent steps and a command between them.
const MEND: &str = r#"
id: mend
label: Mend
description: Looks, runs the tests, mends
initialStep: look
guardrails: {}
context: { word: hello }
steps:
  look:
    prompt: "Look. {{word}} {{nobody}}"
    outcomes: [fine, broken, other]
    onOutcome:
      fine: { action: exit, reason: all-fine }
      broken: { nextStep: mend }
      other: { action: exit, reason: user-provided-other }
  mend:
    prompt: Mend it.
    model: opus
    outcomes: [mended, other]
    onOutcome:
      mended: { nextStep: look }
      other: { action: exit, reason: user-provided-other }
"#;

/// A person with a script of these answers; a word alone is an outcome.
fn person(answers: &[&str]) -> Person {
    let person = Person::new().file("mend.yaml", MEND);
    script(&person, answers);
    person
}

fn script(person: &Person, answers: &[&str]) {
    let line = |answer: &&str| {
        let word = answer.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let text = if word { reporting(answer) } else { (*answer).to_owned() };
        let line =
            if text.starts_with("{\"error\"") { text } else { Value::from(text).to_string() };
        line + "\n"
    };
    person.write("answers.jsonl", &answers.iter().map(line).collect::<String>());
}

fn reporting(outcome: &str) -> String {
    format!("Worked.\n\n{{\"outcome\": \"{outcome}\"}}")
}

/// `towpath run` with the script.
fn run(person: &Person, arguments: &[&str]) -> crate::support::Said {
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    person.towpath(&[&["run"], arguments, &with].concat())
}

/// The same under the name `agent-recipes`.
fn under_the_name(person: &Person, arguments: &[&str]) -> crate::support::Said {
    let with = ["--script", "answers.jsonl"];
    person.towpath(&[&["as", "agent-recipes"], arguments, &with].concat())
}

/// `step kind how` of every call.
fn calls(person: &Person) -> Vec<String> {
    let text = |call: &Value, key: &str| call[key].as_str().unwrap_or("-").to_owned();
    let told = |line: &str| {
        let call: Value = serde_json::from_str(line).expect("a line of JSON");
        ["step", "kind", "how"].map(|key| text(&call, key)).join(" ")
    };
    person.read("calls.jsonl").lines().map(told).collect()
}

fn prompts(person: &Person) -> Vec<String> {
    let told = |line: &str| {
        let call: Value = serde_json::from_str(line).expect("a line of JSON");
        call["prompt"].as_str().expect("a prompt").to_owned()
    };
    person.read("calls.jsonl").lines().map(told).collect()
}

/// The newest run as `towpath show --json` tells it.
fn shown(person: &Person) -> Value {
    person.towpath(&["show", person.run().as_str(), "--json"]).exits(0).json()
}

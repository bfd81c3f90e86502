//! State machines as a user meets them at a terminal, beyond the rows of the case files: what every
//! fault leads to, what is reported of a run, how it continues, what its steps may be, and what is reported
//! before the first call.

mod ends_without_exit;
mod exits_without_success;
mod faults_reasons_and_exit_codes;
mod file_with_built_ins_name;
mod flags_in_help_and_errors;
mod logs_and_conversations;
mod machine_list;
mod missing_agents_and_programs;
mod principles_table;
mod reported_events;
mod resume;
mod step_kinds_and_prompts;

use crate::support::User;
use serde_json::Value;

/// Two agent steps and a command between them.
const FIX: &str = r#"
id: fix
label: Fix
description: Looks, runs the tests, fixes
initialStep: look
guardrails: {}
context: { word: hello }
steps:
  look:
    prompt: "Look. {{word}} \\{{nobody}}"
    outcomes: [fine, broken, other]
    onOutcome:
      fine: { action: exit, reason: all-fine }
      broken: { nextStep: fix }
      other: { action: exit, reason: user-provided-other }
  fix:
    prompt: Fix it.
    model: opus
    outcomes: [fixed, other]
    onOutcome:
      fixed: { nextStep: look }
      other: { action: exit, reason: user-provided-other }
"#;

/// A user with a script of these answers; a word alone is an outcome.
fn user(answers: &[&str]) -> User {
    let user = User::new().file("fix.yaml", FIX);
    script(&user, answers);
    user
}

fn script(user: &User, answers: &[&str]) {
    let line = |answer: &&str| {
        let word = answer.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        let text = if word { reporting(answer) } else { (*answer).to_owned() };
        let line =
            if text.starts_with("{\"error\"") { text } else { Value::from(text).to_string() };
        line + "\n"
    };
    user.write("answers.jsonl", &answers.iter().map(line).collect::<String>());
}

fn reporting(outcome: &str) -> String {
    format!("Worked.\n\n{{\"outcome\": \"{outcome}\"}}")
}

/// `towpath run` with the script.
fn run(user: &User, arguments: &[&str]) -> crate::support::Printed {
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    user.towpath(&[&["run"], arguments, &with].concat())
}

/// The same under the name `agent-recipes`.
fn under_the_name(user: &User, arguments: &[&str]) -> crate::support::Printed {
    let with = ["--script", "answers.jsonl"];
    user.towpath(&[&["as", "agent-recipes"], arguments, &with].concat())
}

/// `step kind how` of every call.
fn calls(user: &User) -> Vec<String> {
    let text = |call: &Value, key: &str| call[key].as_str().unwrap_or("-").to_owned();
    let reported = |line: &str| {
        let call: Value = serde_json::from_str(line).expect("a line of JSON");
        ["step", "kind", "how"].map(|key| text(&call, key)).join(" ")
    };
    user.read("calls.jsonl").lines().map(reported).collect()
}

fn prompts(user: &User) -> Vec<String> {
    let reported = |line: &str| {
        let call: Value = serde_json::from_str(line).expect("a line of JSON");
        call["prompt"].as_str().expect("a prompt").to_owned()
    };
    user.read("calls.jsonl").lines().map(reported).collect()
}

/// The newest run as `towpath show --json` reports it.
fn shown(user: &User) -> Value {
    user.towpath(&["show", user.run().as_str(), "--json"]).exits(0).json()
}

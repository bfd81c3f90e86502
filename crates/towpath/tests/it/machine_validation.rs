//! `towpath validate` of state machines.

use crate::support::User;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn rows() -> Vec<Value> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/machine-validation.jsonl");
    let text = fs::read_to_string(path).expect("the cases are there");
    text.lines().skip(1).map(|line| serde_json::from_str(line).expect("a row")).collect()
}

pub fn row(id: &str) -> Value {
    rows().into_iter().find(|row| row["id"] == id).expect("the row is there")
}

pub fn with(row: &Value) -> User {
    let user = User::new().file("demo.json", &format!("{:#}", row["recipe"]));
    for (path, file) in row["files"].as_object().into_iter().flatten() {
        user.write(path, &format!("{file:#}"));
    }
    user
}

#[test]
fn validate_reports_every_problem_with_its_location() {
    let user = with(&row("v071"));
    let printed = user.towpath(&["validate", "demo.json", "--json"]).exits(2).json();
    assert_eq!(printed["valid"], json!(false));
    let problems: Vec<String> = printed["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|p| {
            let text = |name: &str| p[name].as_str().unwrap_or_default().to_owned();
            let at = format!("{}:{}:{}", text("file"), p["line"], p["column"]);
            format!(
                "{}[{}] {at} {} | {}",
                text("severity"),
                text("code"),
                text("error"),
                text("hint")
            )
        })
        .collect();
    assert_eq!(
        problems,
        [
            "error[unknown-step] demo.json:5:18 Initial step not found in steps: nonexistent | ",
            "error[unknown-step] demo.json:20:23 Next step nonexistent-step not found in steps \
             (step a, outcome ok) | ",
            "error[bad-choice] demo.json:48:16 Invalid model 'gpt-4' at step b. Valid models: \
             haiku, sonnet, opus | ",
        ]
    );
}

#[test]
fn validate_gives_the_recorded_problems() {
    for id in ["v001", "v023", "v039", "v047", "v049", "v082", "v104", "v110", "v114", "v115"] {
        let row = row(id);
        let user = with(&row);
        let errors = row["errors"].as_array().expect("a list");
        let code = if errors.is_empty() { 0 } else { 2 };
        let printed = user.towpath(&["validate", "demo.json", "--json"]).exits(code).json();
        for (severity, wanted) in
            [("error", errors), ("warning", row["warnings"].as_array().expect("a list"))]
        {
            let printed: Vec<&str> = printed["problems"]
                .as_array()
                .expect("a list")
                .iter()
                .filter(|p| p["severity"] == severity)
                .map(|p| p["error"].as_str().expect("a text"))
                .collect();
            for text in wanted {
                let text = text.as_str().expect("a text");
                assert!(printed.iter().any(|s| s.contains(text)), "{id}: {text}: {printed:?}");
            }
        }
    }
}

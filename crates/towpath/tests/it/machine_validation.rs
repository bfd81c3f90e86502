//! State machines as a user meets them before anything runs: checked, listed, started, ejected,
//! described for editors.

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

fn row(id: &str) -> Value {
    rows().into_iter().find(|row| row["id"] == id).expect("the row is there")
}

fn with(row: &Value) -> User {
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

#[test]
fn machines_are_listed_among_recipes() {
    let user = with(&row("v100"));
    user.write(".towpath/recipes/demo.json", &user.read("demo.json"));
    user.write(".towpath/recipes/shared/rc.json", &user.read("shared/rc.json"));
    user.write(".towpath/recipes/rebase.yaml", "id: rebase\nsteps: {}\n");
    let printed = user.towpath(&["list", "--json"]).exits(0).json();
    let recipes = printed["recipes"].as_array().expect("a list");
    let own: Vec<&Value> = recipes.iter().filter(|r| r["origin"] == "project").collect();
    let shown =
        |r: &Value| json!([r["name"], r["kind"], r["label"], r["steps"], r["error"].is_null()]);
    assert_eq!(
        own.iter().map(|r| shown(r)).collect::<Vec<_>>(),
        [json!(["demo", "machine", "D", 3, true]), json!(["rebase", "steps", null, 0, false])]
    );
    let built_in = recipes.iter().filter(|r| r["origin"] == "built-in" && r["kind"] == "machine");
    assert_eq!(built_in.count(), 8);
    let shadowed = recipes.iter().find(|r| r["name"] == "rebase" && r["origin"] == "built-in");
    assert_eq!(
        shadowed.expect("it is listed")["shadowed"],
        json!(false),
        "a broken, untrusted file never shadows"
    );
}

#[test]
fn a_built_in_machine_is_ejected_as_one_sound_file() {
    let user = User::new();
    fs::create_dir(user.path("work/.git")).expect("a project");
    for name in ["implement-and-review-all", "rebase"] {
        let printed = user.towpath(&["recipes", "eject", name]).exits(0);
        let file = format!(".towpath/recipes/{name}.yaml");
        assert!(printed.stdout.contains(&file), "{}", printed.stdout);
        assert!(!user.read(&file).contains("$include"));
        let printed = user.towpath(&["validate", &file, "--strict"]).exits(0);
        assert!(printed.stdout.contains("no problems"), "{}", printed.stdout);
    }
    assert!(!user.path("work/.towpath/recipes/shared").exists());
}

#[test]
fn a_new_machine_validates_and_passes_its_tests() {
    let user = User::new();
    let printed = user.towpath(&["new", "--machine", "fix-it"]).exits(0);
    assert!(printed.stdout.starts_with("created fix-it.yaml"), "{}", printed.stdout);
    user.towpath(&["validate", "fix-it.yaml", "--strict"]).exits(0);
    let printed = user.towpath(&["test", "fix-it.yaml", "--mutate"]).exits(0);
    assert!(printed.stdout.contains("9 of 9 changes noticed"), "{}", printed.stdout);
    let printed = user.towpath(&["new", "--machine", "Fix_it"]).exits(2);
    assert!(printed.stderr.contains("lower-case letters"), "{}", printed.stderr);
    let printed = user.towpath(&["new", "--machine", "team/fix-it"]).exits(0);
    assert!(printed.stdout.contains("created team/fix-it.yaml"), "{}", printed.stdout);
    user.towpath(&["validate", "team/fix-it.yaml", "--strict"]).exits(0);
}

//! Every row of the validation cases of state machines: written to files, resolved as `validate`
//! does it, and compared with the errors, the warnings and the steps that the row asks for.

use crate::problems_as_lines::render;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use towpath_core::{Diagnostic, Map, Severity};
use towpath_recipe::{
    Recipe, Request, Resolved, RunOptions, SearchPath, Transition, Work, resolve,
};

fn rows() -> Vec<Value> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/machine-validation.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn resolved(
    row: &Value,
    directory: &Path,
    ending: &str,
    text: impl Fn(&Value) -> String,
) -> Resolved {
    for (path, file) in row["files"].as_object().into_iter().flatten() {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(file)).unwrap();
    }
    let id = row["recipe"]["id"].as_str().unwrap_or("demo");
    let stem = if id.contains('/') { "demo" } else { id };
    fs::write(directory.join(format!("{stem}.{ending}")), text(&row["recipe"])).unwrap();
    resolve(&Request {
        reference: format!("./{stem}.{ending}"),
        working_dir: directory.to_owned(),
        search: SearchPath::default(),
        inputs: Map::new(),
        run_options: RunOptions::default(),
    })
}

fn messages(problems: &[Diagnostic], severity: Severity) -> Vec<String> {
    problems.iter().filter(|p| p.severity == severity).map(|p| p.message.clone()).collect()
}

/// Every wanted text is in some message; no message at all when none is wanted.
fn check_messages(row: &Value, what: &str, messages: &[String], all: &str) {
    let wanted: Vec<&str> =
        row[what].as_array().unwrap().iter().map(|w| w.as_str().unwrap()).collect();
    for wanted in &wanted {
        assert!(
            messages.iter().any(|message| message.contains(wanted)),
            "{}: no {what} with {wanted:?}:\n{all}",
            row["id"]
        );
    }
    assert!(!wanted.is_empty() || messages.is_empty(), "{}: {what}:\n{all}", row["id"]);
}

#[test]
fn every_case_of_the_language() {
    let rows = rows();
    assert_eq!(rows.len(), 90);
    for row in &rows {
        let directory = tempfile::tempdir().unwrap();
        let resolved = resolved(row, directory.path(), "json", |value| {
            serde_json::to_string_pretty(value).unwrap()
        });
        let all = render(&resolved.problems);
        check_messages(row, "errors", &messages(&resolved.problems, Severity::Error), &all);
        if row["errors"].as_array().unwrap().is_empty() {
            check_messages(row, "warnings", &messages(&resolved.problems, Severity::Warning), &all);
            let program = resolved.program.expect("it is valid");
            looks_like(row, program.root());
            // What is stored means the same.
            let plan = program.plan.as_ref().clone();
            looks_like(row, plan.load().expect("it can be read again").root());
        }
        for problem in resolved.problems.iter().filter(|p| p.severity > Severity::Note) {
            assert!(!problem.labels.is_empty(), "{}: without a location:\n{all}", row["id"]);
        }
    }
}

fn looks_like(row: &Value, recipe: &Recipe) {
    let steps: Vec<&str> = recipe.steps.iter().map(|step| step.id.as_str()).collect();
    for (path, wanted) in row["resolved"].as_object().into_iter().flatten() {
        let is = match path.split_once('.') {
            None if path == "steps" => json!(steps),
            None => {
                let mut is = steps.clone();
                is.sort_unstable();
                let mut names: Vec<&str> =
                    wanted.as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
                names.sort_unstable();
                assert_eq!(is, names, "{}: {path}", row["id"]);
                continue;
            }
            Some((step, field)) => field_of(recipe, step, field),
        };
        assert_eq!(&is, wanted, "{}: {path}", row["id"]);
    }
}

fn field_of(recipe: &Recipe, step: &str, field: &str) -> Value {
    let step = &recipe.steps[recipe.step_index(step).expect("the step is there")];
    let Work::Agent(work) = &step.work else { panic!("{} asks an agent", step.id) };
    let then = |then: &Transition| match then {
        Transition::Next(index) => json!({ "nextStep": recipe.steps[*index].id }),
        Transition::Exit { reason, .. } => json!({ "action": "exit", "reason": reason }),
        Transition::Restart { recipe, .. } => {
            json!({ "action": "restart-new-session", "recipeId": recipe })
        }
    };
    match field {
        "prompt" => json!(work.prompt.render(&Map::new())),
        "model" => json!(work.model),
        "outcomes" => step.outcomes.iter().map(|outcome| json!(outcome.name)).collect(),
        "onOutcome" => {
            let pairs = step.outcomes.iter().map(|o| (o.name.clone(), then(&o.then)));
            Value::Object(pairs.collect())
        }
        _ => panic!("{field}"),
    }
}

//! The schema that editors get and the program that reads: a validator that is not ours accepts
//! every recipe of the repository, and what it shows of each field with each kind of value is what
//! reading shows.

mod settings;
mod test_files;

use crate::support::User;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use towpath_core::Source;
use towpath_recipe::StepKind;
use towpath_recipe::field_table::{FIELDS, Field, FieldType, Section};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Python with `jsonschema` and `PyYAML`, as `./test` installs it.
fn python() -> PathBuf {
    let cache = std::env::var_os("TOWPATH_TEST_CACHE").map_or_else(
        || {
            let home = PathBuf::from(std::env::var_os("HOME").expect("a home"));
            let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
            cache.unwrap_or_else(|| home.join(".cache")).join("towpath-test")
        },
        PathBuf::from,
    );
    cache.join("jsonschema/bin/python")
}

/// What the validator shows of each text by the schema of a format.
fn judged(format: &str, texts: &[String]) -> Vec<Option<String>> {
    let schema = User::new().towpath(&["schema", format]).exits(0).json();
    let asked = json!({ "schema": schema, "texts": texts });
    let python = python();
    let judge =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schema_agrees_with_reader/judge.py");
    let mut child = Command::new(&python)
        .arg(judge)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e} (./test installs it)", python.display()));
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(asked.to_string().as_bytes()).expect("the validator reads");
    drop(input);
    let output = child.wait_with_output().expect("the validator ends");
    assert!(output.status.success(), "the schema is none, or a text is no YAML");
    let printed: Vec<Value> = serde_json::from_slice(&output.stdout).expect("a list");
    printed.into_iter().map(|s| s.as_str().map(str::to_owned)).collect()
}

fn recipes_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            recipes_below(&path, found);
        } else if (name.ends_with(".yaml") || name.ends_with(".yml")) && !name.contains(".test.") {
            found.push(path);
        }
    }
}

#[test]
fn every_recipe_of_the_repository_fits() {
    let mut files = Vec::new();
    for folder in ["recipes/examples", "recipes/testing", "recipes/workflows", "recipes/demo"] {
        recipes_below(&root().join(folder), &mut files);
    }
    let texts: Vec<String> =
        files.iter().map(|file| fs::read_to_string(file).expect("a recipe")).collect();
    for (file, printed) in files.iter().zip(judged("steps", &texts)) {
        assert_eq!(printed, None, "{}", file.display());
    }
    assert!(files.len() >= 15, "{} step recipes", files.len());
}

#[test]
fn every_machine_of_the_repository_fits() {
    let mut files = Vec::new();
    let machines = root().join("recipes/machines");
    recipes_below(&machines, &mut files);
    files.retain(|file| file.parent() == Some(machines.as_path()));
    assert_eq!(files.len(), 8, "{files:?}");
    files.push(root().join("crates/towpath/src/commands/new/machine.yaml"));
    // What `new` replaces in its text.
    let text =
        |file: &PathBuf| fs::read_to_string(file).expect("a recipe").replace("id: NAME", "id: x");
    let mut texts: Vec<String> = files.iter().map(text).collect();
    let alone = |file: &PathBuf| {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        towpath_recipe::builtin_alone(&name).map(std::borrow::Cow::into_owned)
    };
    texts.extend(files.iter().filter_map(alone));
    assert_eq!(texts.len(), 17);
    for (text, printed) in texts.iter().zip(judged("machine", &texts)) {
        assert_eq!(printed, None, "{text}");
    }
}

/// What the reader refuses because of its shape does not fit, and what it accepts does.
#[test]
fn the_schema_of_machines_agrees_with_every_case() {
    let cases = fs::read_to_string(root().join("tests/cases/machine-validation.jsonl"));
    let cases = cases.expect("the cases are there");
    let rows: Vec<Value> =
        cases.lines().skip(1).map(|row| serde_json::from_str(row).expect("a row")).collect();
    let texts: Vec<String> = rows.iter().map(|row| row["recipe"].to_string()).collect();
    let (mut fit, mut slips) = (0, 0);
    for (row, printed) in rows.iter().zip(judged("machine", &texts)) {
        let valid = row["errors"].as_array().expect("a list").is_empty();
        let source = Source::new("r.json", row["recipe"].to_string());
        let problems = towpath_recipe::read(&source).problems;
        let shape = problems.iter().any(|p| p.is_error() && SHAPE.contains(&p.code));
        assert!(!valid || printed.is_none(), "{}: only the schema refuses: {printed:?}", row["id"]);
        assert!(!shape || printed.is_some(), "{}: only reading refuses: {problems:?}", row["id"]);
        if printed.is_none() { fit += 1 } else { slips += 1 }
    }
    assert!(fit > 30 && slips > 25, "{fit} fit, {slips} do not");
}

#[test]
fn what_belongs_to_others_and_what_is_taken_away_fits_machines() {
    let head = "id: m\nlabel: L\ndescription: d\ninitialStep: a\nguardrails: {}\nsteps:\n";
    let rows = [
        ("  x-note: [any]\n  $schema: s\n  a: {$ref: 'f.yaml#/a', onOutcome: {ok: null}}\n", true),
        (
            "  a: {prompt: x, outcomes: [ok], onOutcome: {x-why: null, $schema: 1, ok: {action: exit, reason: r}}}\n",
            true,
        ),
        ("  a: {prompt: x, outcomes: [ok], onOutcome: {ok: null}}\n", false),
        ("  a: {$ref: 'f.yaml#/a', onOutcome: {ok: 5}}\n", false),
        ("  y-note: [any]\n", false),
    ];
    let texts: Vec<String> = rows.iter().map(|(steps, _)| format!("{head}{steps}")).collect();
    for ((steps, fits), printed) in rows.iter().zip(judged("machine", &texts)) {
        assert_eq!(printed.is_none(), *fits, "{steps}{printed:?}");
    }
}

/// An id is a name; an address would promise that something is published there.
#[test]
fn each_schema_has_an_id() {
    for format in ["steps", "machine", "test", "settings"] {
        let schema = User::new().towpath(&["schema", format]).exits(0).json();
        assert_eq!(schema["$id"], format!("urn:towpath:schema:{format}"));
        assert!(schema["title"].is_string(), "{format}");
    }
}

#[test]
fn names_that_reading_refuses_do_not_fit() {
    let steps = |text: &str| format!("name: x\n{text}\n");
    let step = |text: &str| format!("name: x\nsteps:\n  - {{id: a, command: echo, {text}}}\n");
    let machine = |id: &str| {
        format!(
            "{{id: {id}, label: L, description: d, initialStep: a, guardrails: {{}}, steps: {{a: \
             {{prompt: p, outcomes: [ok, other], onOutcome: {{ok: {{action: exit, reason: r}}, \
             other: {{action: exit, reason: r}}}}}}}}}}"
        )
    };
    let with_step = |text: &str| steps(&format!("{text}\nsteps: [{{id: a, command: echo}}]"));
    let rows = [
        ("steps", steps("steps: [{id: a b, command: echo}]"), false),
        ("steps", steps("steps: [{id: A_1-b, command: echo}]"), true),
        ("steps", "name: ' '\nsteps: [{id: a, command: echo}]".to_owned(), false),
        ("steps", step("output: a.b"), false),
        ("steps", step("output: größe_1-b"), true),
        ("steps", step("context: {a b: 1}"), false),
        ("steps", step("context: {_ab: 1}"), true),
        ("steps", with_step("context: {-a: 1}"), false),
        ("steps", with_step("required_context: [a b]"), false),
        ("steps", with_step("required_context: [ab, 7]"), true),
        ("machine", machine("Fix_it"), false),
        ("machine", machine("fix-it-2"), true),
    ];
    for (format, text, fits) in rows {
        let read = towpath_recipe::read(&Source::new("r.yaml", text.clone()));
        let errors: Vec<_> = read.problems.iter().filter(|p| p.is_error()).collect();
        assert_eq!(errors.is_empty(), fits, "{text}{errors:?}");
        let printed = judged(format, std::slice::from_ref(&text)).remove(0);
        assert_eq!(printed.is_none(), fits, "{text}{printed:?}");
    }
}

#[test]
fn a_misspelt_recipe_does_not_fit() {
    let texts = [
        "name: x\nsteps:\n  - id: a\n    comand: echo\n",
        "name: x\nsteps:\n  - id: a\n    command: echo\n    timeout: soon\n",
        "name: x\nstep:\n  - id: a\n    command: echo\n",
        "name: x\nsteps: []\n",
        "name: x\nhooks:\n  pre_steps: echo\nsteps:\n  - id: a\n    command: echo\n",
        "name: x\nsteps:\n  - command: echo\n",
        "steps:\n  - id: a\n    command: echo\n",
        "name: x\nsteps:\n  - id: a\n    command: echo\n    effect: twice\n",
    ];
    let printed = judged("steps", &texts.map(str::to_owned));
    let printed: Vec<String> = printed.into_iter().map(Option::unwrap_or_default).collect();
    assert!(
        printed[0].starts_with("$.steps[0]: Additional properties are not allowed"),
        "{printed:?}"
    );
    for (text, printed) in texts.iter().zip(&printed) {
        assert_ne!(printed, "", "{text}");
    }
}

const VALUES: [&str; 12] =
    ["word", "7", "2.5", "0", "true", "[a]", "[[a]]", "{a: b}", "null", "once", "1.5h", "0m"];

/// A recipe in which one field has one value.
fn with(field: &Field, value: &str) -> String {
    let line = format!("{}: {value}\n", field.name);
    let unless = |name: &str, text: &str| {
        if field.name == name { String::new() } else { text.to_owned() }
    };
    let work = match field.used_by {
        [StepKind::Recipe] => unless("recipe", "    recipe: other\n"),
        [StepKind::Agent] => unless("prompt", "    prompt: hello\n"),
        _ => unless("command", "    command: echo\n"),
    };
    let steps = |inside: &str| format!("steps:\n  - id: a\n{work}{inside}");
    match field.section {
        Section::Recipe => {
            format!("{}{line}{}", unless("name", "name: x\n"), unless("steps", &steps("")))
        }
        Section::Recursion => format!("name: x\nrecursion:\n  {line}{}", steps("")),
        Section::Hooks => format!("name: x\nhooks:\n  {line}{}", steps("")),
        Section::Step if field.name == "id" => format!("name: x\nsteps:\n  - {line}{work}"),
        Section::Step => format!("name: x\n{}", steps(&format!("    {line}"))),
        machine => with_in_machine(field, machine, value),
    }
}

/// A machine in which one field has one value.
fn with_in_machine(field: &Field, section: Section, value: &str) -> String {
    let value: Value = match value {
        "{a: b}" => json!({ "a": "b" }),
        "[a]" => json!(["a"]),
        "[[a]]" => json!([["a"]]),
        plain => serde_json::from_str(plain).unwrap_or_else(|_| json!(plain)),
    };
    let mut step = json!({ "outcomes": ["success", "failure", "other"], "onOutcome": {
        "success": { "nextStep": "word" },
        "failure": { "action": "exit", "reason": "failed" },
        "other": { "action": "exit", "reason": "other" },
    } });
    match field.used_by {
        [StepKind::Recipe] => step["recipe"] = json!("other"),
        [StepKind::Bash] | [StepKind::Bash, _] => step["command"] = json!("make"),
        _ => step["prompt"] = json!("hello"),
    }
    match section {
        Section::MachineStep if field.name == "$ref" => step = json!({ "$ref": value }),
        Section::MachineStep => step[field.name] = value.clone(),
        Section::Transition => {
            let then = match field.name {
                "reason" => json!({ "action": "exit", "reason": value }),
                "recipeId" => json!({ "action": "restart-new-session", "recipeId": value }),
                name => json!({ name: value }),
            };
            step["onOutcome"]["success"] = then;
        }
        _ => {}
    }
    let mut recipe = json!({
        "id": "word", "label": "W", "description": "w", "initialStep": "word", "guardrails": {},
        "steps": { "word": step },
    });
    match section {
        Section::Machine => recipe[field.name] = value,
        Section::Guardrails => recipe["guardrails"][field.name] = value,
        _ => {}
    }
    recipe.to_string()
}

/// The codes of errors that are about a file's shape.
const SHAPE: [&str; 5] = ["unknown-field", "wrong-type", "bad-choice", "no-steps", "missing-field"];

#[test]
fn the_schema_and_the_reader_agree_on_every_field() {
    agree("steps", |field| !field.section.is_of_machines(), 100, 60);
}

#[test]
fn the_schema_and_the_reader_agree_on_every_field_of_machines() {
    agree("machine", |field| field.section.is_of_machines(), 30, 100);
}

fn agree(format: &str, of: impl Fn(&Field) -> bool, fitting: usize, slipping: usize) {
    let pairs: Vec<(&Field, &str)> = FIELDS
        .iter()
        .filter(|field| of(field))
        .flat_map(|field| VALUES.into_iter().map(move |value| (field, value)))
        .collect();
    let texts: Vec<String> = pairs.iter().map(|(field, value)| with(field, value)).collect();
    let (mut fit, mut slips) = (0, 0);
    for (((field, _), text), printed) in pairs.iter().zip(&texts).zip(judged(format, &texts)) {
        let read = towpath_recipe::read(&Source::new("r.yaml", text.clone()));
        let errors: Vec<&str> =
            read.problems.iter().filter(|p| p.is_error()).map(|p| p.code).collect();
        // A field of any shape is for reading alone to judge.
        let shape = errors.iter().any(|code| SHAPE.contains(code)) && field.kind != FieldType::Any;
        assert!(!shape || printed.is_some(), "only reading refuses:\n{text}{errors:?}");
        assert!(
            printed.is_none() || !errors.is_empty(),
            "only the schema refuses:\n{text}{printed:?}"
        );
        if printed.is_none() { fit += 1 } else { slips += 1 }
    }
    assert!(fit > fitting && slips > slipping, "{fit} fit, {slips} do not");
}

//! The machine files as they lie on the disk, and a resolver of `$include` and `$ref` that shares
//! no code with the reader. It knows just what the built-ins use, and panics at anything else.

use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

pub const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/machines");
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases");

pub type Steps = Map<String, Value>;

pub fn case_file(name: &str) -> String {
    fs::read_to_string(Path::new(CASES).join(name)).unwrap()
}

/// The names, without their ending, of the files in a directory below `machines/`; tests are none.
pub fn stems(below: &str) -> Vec<String> {
    let directory = Path::new(MACHINES).join(below);
    let mut stems: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && !path.to_string_lossy().ends_with(".test.yaml"))
        .map(|path| {
            assert_eq!(path.extension().unwrap(), "yaml", "{}", path.display());
            path.file_stem().unwrap().to_str().unwrap().to_owned()
        })
        .collect();
    stems.sort();
    stems
}

/// A recipe as it is written, its references not followed.
pub fn written(id: &str) -> Value {
    parse(&Path::new(MACHINES).join(format!("{id}.yaml")))
}

/// A recipe with every step whole.
pub fn resolved(id: &str) -> Value {
    let file = Path::new(MACHINES).join(format!("{id}.yaml"));
    let mut recipe = parse(&file);
    recipe["steps"] = Value::Object(expand(recipe["steps"].as_object().unwrap(), &file));
    recipe
}

/// The steps of a shared file, whole.
pub fn shared(stem: &str) -> Steps {
    let file = Path::new(MACHINES).join(format!("shared/{stem}.yaml"));
    expand(parse(&file).as_object().unwrap(), &file)
}

fn parse(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Included steps come where their `$include` is; a later step of the same name replaces the
/// earlier one.
fn expand(steps: &Steps, file: &Path) -> Steps {
    let mut whole = Steps::new();
    for (name, step) in steps {
        if name == "$include" {
            for included in one_or_more(step) {
                let from = beside(file, included);
                whole.extend(expand(parse(&from).as_object().unwrap(), &from));
            }
        } else {
            whole.insert(name.clone(), follow(step, file));
        }
    }
    whole
}

fn one_or_more(value: &Value) -> Vec<&str> {
    match value {
        Value::String(one) => vec![one],
        Value::Array(more) => more.iter().map(|v| v.as_str().unwrap()).collect(),
        other => panic!("$include: {other}"),
    }
}

/// A step with the one it refers to underneath: transitions are replaced one by one, every other
/// field whole.
fn follow(step: &Value, file: &Path) -> Value {
    let Some(reference) = step.get("$ref") else { return step.clone() };
    let (path, name) = reference.as_str().unwrap().split_once("#/").unwrap();
    let from = beside(file, path);
    let mut whole = follow(&parse(&from)[name], &from);
    assert!(whole.is_object(), "{reference} is not there");
    for (field, value) in step.as_object().unwrap() {
        match field.as_str() {
            "$ref" => {}
            "onOutcome" => {
                let transitions = whole["onOutcome"].as_object_mut().unwrap();
                transitions.extend(value.as_object().unwrap().clone());
            }
            _ => whole[field] = value.clone(),
        }
    }
    whole
}

fn beside(file: &Path, path: &str) -> PathBuf {
    file.parent().unwrap().join(path)
}

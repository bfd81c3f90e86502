//! The recorded cases. Options of the program are tested with the program.

use crate::render_with_real_bash::Directory;
use serde_json::Value;
use towpath_core::{Diagnostic, Map};

#[test]
fn every_case_gives_what_it_should() {
    let cases = include_str!("../../../../tests/cases/documents.jsonl");
    let mut failed = Vec::new();
    let mut tried = 0;
    for line in cases.lines().skip(1) {
        let case: Value = serde_json::from_str(line).expect("a case");
        if case["id"] == "run-timeout" {
            continue;
        }
        tried += 1;
        if let Err(why) = try_case(&case) {
            failed.push(format!("{}: {why}", case["id"]));
        }
    }
    assert!(failed.is_empty(), "{} of {tried} failed:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(tried, 181);
}

fn try_case(case: &Value) -> Result<(), String> {
    let directory = tempfile::tempdir().expect("a directory");
    for (path, text) in case["files"].as_object().expect("files") {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text.as_str().expect("text")).expect("write");
    }
    let arguments: Vec<&str> =
        case["args"].as_array().expect("args").iter().filter_map(Value::as_str).collect();
    let mut inputs = Map::new();
    let mut name = "main.md";
    match arguments.as_slice() {
        [] => {}
        ["--set", set] => {
            let (key, value) = set.split_once('=').expect("a value");
            inputs.insert(key.to_owned(), value.into());
        }
        [file] => name = file,
        other => return Err(format!("unknown arguments {other:?}")),
    }
    let rendered = Directory(directory.path().to_owned()).render(name, &inputs);
    let expected = &case["expect"];
    match (rendered, expected["stdout"].as_str()) {
        (Ok(output), Some(expected)) if output == expected.as_bytes() => Ok(()),
        (Ok(output), _) => Err(format!("printed {:?}", String::from_utf8_lossy(&output))),
        (Err(errors), None) => fits(&errors, expected),
        (Err(errors), Some(_)) => Err(format!("failed: {}", messages(&errors))),
    }
}

fn fits(errors: &[Diagnostic], expected: &Value) -> Result<(), String> {
    let text = messages(errors);
    let wanted = expected["error_contains"].as_str().expect("a text");
    if !text.to_lowercase().contains(&wanted.to_lowercase()) {
        return Err(format!("no {wanted:?} in {text:?}"));
    }
    let Some(line) = expected["line"].as_u64() else { return Ok(()) };
    let lines = errors.iter().flat_map(|error| &error.labels).map(|label| {
        let (line, _) = label.source.line_column(label.span.start);
        (label.source.name.as_str(), line as u64)
    });
    match lines.clone().any(|found| found == ("main.md", line)) {
        true => Ok(()),
        false => Err(format!("not at line {line}: {:?}", lines.collect::<Vec<_>>())),
    }
}

fn messages(errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join("; ")
}

//! The schema of test files.

use super::{VALUES, judged, root};
use crate::support::User;
use std::fs;
use std::path::{Path, PathBuf};
use towpath_core::Source;

fn test_files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            test_files_below(&path, found);
        } else if towpath_testing::is_test_file(&path) {
            found.push(path);
        }
    }
}

#[test]
fn every_test_file_of_the_repository_fits() {
    let mut files = Vec::new();
    for directory in ["crates", "recipes"] {
        test_files_below(&root().join(directory), &mut files);
    }
    let texts: Vec<String> =
        files.iter().map(|file| fs::read_to_string(file).expect("a test file")).collect();
    for (file, printed) in files.iter().zip(judged("test", &texts)) {
        assert_eq!(printed, None, "{}", file.display());
    }
    assert!(files.len() > 50, "{} test files", files.len());
}

/// Where the keys of each part of a test file are written.
const PARTS: [(&str, &str); 7] = [
    ("case", "cases: [{name: n, KEY: VALUE}]"),
    ("defaults", "defaults: {KEY: VALUE}\ncases: [{name: n}]"),
    ("machine", "cases: [{name: n, machine: {KEY: VALUE}}]"),
    ("answer", "cases: [{name: n, agents: {a: {KEY: VALUE}}}]"),
    ("stub", "cases: [{name: n, stubs: {a: {KEY: VALUE}}}]"),
    ("expect", "cases: [{name: n, expect: {KEY: VALUE}}]"),
    ("call", "cases: [{name: n, expect: {calls: [{KEY: VALUE}]}}]"),
];

/// The codes of errors that are about a file's shape.
const SHAPE: [&str; 5] = ["unknown-key", "wrong-type", "bad-choice", "empty-key", "bad-path"];

#[test]
fn the_schema_and_the_reader_agree_on_every_key() {
    let schema = User::new().towpath(&["schema", "test"]).exits(0).json();
    let mut texts = Vec::new();
    for (part, written) in PARTS {
        let keys = schema["$defs"][part]["properties"].as_object().expect("keys");
        let wrong = "no_such_key".to_owned();
        for key in keys.keys().chain([&wrong]) {
            let written =
                written.replace("name: n, KEY", if key == "name" { "KEY" } else { "name: n, KEY" });
            let values = VALUES.into_iter().chain(["{../a: b}"]);
            texts.extend(values.map(|value| written.replace("KEY", key).replace("VALUE", value)));
        }
    }
    let (mut fit, mut slips) = (0, 0);
    for (text, printed) in texts.iter().zip(judged("test", &texts)) {
        let (_, problems) = towpath_testing::read(
            &Source::new("r.test.yaml", text.clone()),
            Path::new("r.test.yaml"),
        );
        let errors: Vec<&str> = problems.iter().filter(|p| p.is_error()).map(|p| p.code).collect();
        let shape = errors.iter().any(|code| SHAPE.contains(code));
        assert!(!shape || printed.is_some(), "only reading refuses:\n{text}\n{errors:?}");
        assert!(
            printed.is_none() || !errors.is_empty(),
            "only the schema refuses:\n{text}\n{printed:?}"
        );
        if printed.is_none() { fit += 1 } else { slips += 1 }
    }
    assert!(fit > 150 && slips > 200, "{fit} fit, {slips} do not");
}

//! Checks the table of promises: every test that it names is in the file that it names, and every test
//! of this folder is named.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A promise, and what checks it: files with their tests.
struct Row {
    promise: String,
    kept_by: Vec<(String, Vec<String>)>,
}

/// In the second cell a word with a slash is a file, and the words after it are tests in it.
fn rows(page: &str) -> Vec<Row> {
    let lines = page.lines().filter(|line| line.starts_with("| "));
    let cells = lines.map(|line| line.trim_matches('|').rsplit_once(" | ").expect("two cells"));
    let mut rows = Vec::new();
    for (promise, holders) in cells.filter(|(promise, _)| promise.trim() != "you may expect") {
        let mut kept_by: Vec<(String, Vec<String>)> = Vec::new();
        for word in holders.split('`').skip(1).step_by(2) {
            match (word.contains('/'), kept_by.last_mut()) {
                (true, _) => kept_by.push((word.to_owned(), Vec::new())),
                (false, Some((_, tests))) => tests.push(word.to_owned()),
                (false, None) => panic!("{promise}: `{word}` is in no file"),
            }
        }
        rows.push(Row { promise: promise.trim().to_owned(), kept_by });
    }
    rows
}

/// Whether a file has this test. Case files and recipe tests have names of their own.
fn has(text: &str, file: &str, test: &str) -> bool {
    match file.rsplit('.').next() {
        Some("rs") => text.contains(&format!("fn {test}(")),
        Some("jsonl") => text.contains(&format!("\"id\": \"{test}\"")),
        _ => {
            text.lines().any(|line| line.trim_start_matches([' ', '-']) == format!("name: {test}"))
        }
    }
}

#[test]
fn every_test_that_the_table_names_is_there() {
    let page = fs::read_to_string(root().join("docs/promises.md")).expect("the page of promises");
    let rows = rows(&page);
    assert!(rows.len() >= 60, "{} promises", rows.len());
    let mut named = BTreeSet::new();
    for Row { promise, kept_by } in &rows {
        assert!(!kept_by.is_empty(), "nothing checks: {promise}");
        for (file, tests) in kept_by {
            let text = fs::read_to_string(root().join(file));
            let text = text.unwrap_or_else(|error| panic!("{promise}: {file}: {error}"));
            assert!(!tests.is_empty(), "{promise}: which tests of {file}?");
            for test in tests {
                assert!(has(&text, file, test), "{promise}: no {test} in {file}");
                named.insert(test.clone());
            }
        }
    }
    for file in [
        "agent_program_starts",
        "groups_and_called_recipes",
        "hooks_and_search_directories",
        "no_network_or_leftover_files",
        "step_timeouts",
        "values_are_never_code",
    ] {
        let path = root().join(format!("crates/towpath/tests/it/promises/{file}.rs"));
        let text = fs::read_to_string(path).expect("a file of this folder");
        let tests = text.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split('(').next());
        for test in tests {
            assert!(named.contains(test), "{test} of {file}.rs checks no promise of the page");
        }
    }
}

#[test]
fn a_promise_is_made_once() {
    let page = fs::read_to_string(root().join("docs/promises.md")).expect("the page of promises");
    let mut seen = BTreeSet::new();
    for row in rows(&page) {
        assert!(seen.insert(row.promise.clone()), "twice: {}", row.promise);
    }
}

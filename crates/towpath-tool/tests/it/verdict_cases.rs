//! Every row of the shared `tests/cases/tool-verify.jsonl` and of this crate's `tests/cases`.

use serde_json::Value;
use std::path::Path;
use towpath_core::Source;
use towpath_tool::{Judgement, Observation, OutputPattern, clean_text, judge, read_observation};

/// Rows that are not as their comment describes, and why.
const SKIPPED: &[(&str, &str)] = &[];

pub fn rows() -> Vec<Value> {
    rows_of("../../tests/cases/tool-verify.jsonl")
}

fn rows_of(path: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row.get("id").is_some()).collect()
}

pub fn observation(row: &Value) -> Observation {
    read_observation(&Source::new("row", row.to_string())).expect("a row is an observation")
}

/// What is wrong with the judgement of a row.
fn faults(row: &Value, found: &Judgement) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, right: bool| {
        if !right {
            faults.push(what.to_owned());
        }
    };
    check("verdict", row["verdict"] == found.verdict.as_str());
    if let Some(version) = row.get("version_found") {
        check("version", version.as_str() == found.version_found.as_deref());
    }
    let identity = serde_json::to_value(found.identity).unwrap();
    check("identity", row.get("identity").unwrap_or(&Value::Null) == &identity);
    check("pattern", row["pattern"].is_null() == found.pattern.is_none());
    if let Some(pattern) = &found.pattern {
        let text = ["stdout", "stderr"].map(|stream| row[stream].as_str().unwrap());
        let text = clean_text(&text.concat());
        let matched = OutputPattern::new(pattern).unwrap().find(&text, None);
        let named = pattern.contains(row["tool"].as_str().unwrap()) || pattern.contains(' ');
        check("pattern", matched.is_some());
        check("pattern", pattern.contains("{version}") || named || row["pattern"] == **pattern);
        let version = matched.and_then(|matched| matched.version);
        check("version of the pattern", version.is_none() || version == found.version_found);
    }
    faults
}

#[test]
fn every_case_is_judged_as_written() {
    let rows = rows();
    assert_eq!(rows.len(), 135);
    check_rows(&rows);
}

#[test]
fn what_programs_print_is_judged_as_written() {
    check_rows(&rows_of("tests/cases/printed-text.jsonl"));
}

fn check_rows(rows: &[Value]) {
    let mut wrong = Vec::new();
    for row in rows {
        let id = row["id"].as_str().unwrap();
        let found = judge(&observation(row));
        let faults = faults(row, &found);
        let skipped = SKIPPED.iter().any(|(skipped, _)| *skipped == id);
        if faults.is_empty() == skipped {
            wrong.push(format!("{id} ({}): {faults:?}\n  {found:?}", row["why"]));
        }
    }
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

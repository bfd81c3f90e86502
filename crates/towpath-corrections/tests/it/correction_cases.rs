//! Every row of `tests/cases/corrections.jsonl`.

use crate::support::{check_edits, rules_of};
use serde_json::{Value, json};
use std::path::Path;
use towpath_corrections::{Correction, RuleIndex, ToolCall, correct};

pub fn rows() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/corrections.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row.get("id").is_some()).collect()
}

pub fn call_of(row: &Value) -> ToolCall {
    let tool = row["tool_name"].as_str().unwrap_or("Bash");
    let input = match row["line"].as_str() {
        Some(line) => json!({ "command": line }),
        None => row["params"].clone(),
    };
    ToolCall::claude_code(tool, input)
}

/// What is wrong with the answer to a row.
fn fault(row: &Value) -> Option<String> {
    let rules = RuleIndex::new(rules_of(row["rules"].as_array().unwrap()));
    let expect = &row["expect"];
    let found = correct(&call_of(row), &rules);
    let right = match &found {
        Correction::Unchanged => expect["unchanged"] == true,
        Correction::Denied(denial) => {
            expect["block"].as_str().is_some_and(|text| denial.reason.contains(text))
        }
        Correction::Rewritten(rewrite) => {
            check_edits(&rewrite.before, &rewrite.after, &rewrite.edits);
            let after = json!(rewrite.after);
            let alternatives = expect["alt"].as_array().cloned().unwrap_or_default();
            match expect.get("params") {
                // As text: the order of the keys counts.
                Some(params) => format!("{params}") == format!("{}", rewrite.input),
                None => expect["line"] == after || alternatives.contains(&after),
            }
        }
    };
    (!right).then(|| {
        format!(
            "{} ({})\n  {}\n  expected {expect}\n  found {found:?}",
            row["id"], row["why"], row["line"]
        )
    })
}

#[test]
fn every_case_is_corrected_as_written() {
    let rows = rows();
    assert_eq!(rows.len(), 225);
    let faults: Vec<String> = rows.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

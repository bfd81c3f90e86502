//! A problem of a recipe or a test file as JSON.

use serde_json::{Value, json};
use towpath_core::Diagnostic;

pub fn problem_json(problem: &Diagnostic) -> Value {
    let location = problem.labels.first();
    let at = location.map(|l| l.source.line_column(l.span.start));
    let hint = problem
        .help
        .clone()
        .or_else(|| location.map(|l| l.text.clone()).filter(|text| !text.is_empty()));
    json!({
        "severity": problem.severity,
        "code": problem.code,
        "error": problem.message,
        "file": location.map(|l| l.source.name.clone()),
        "line": at.map(|a| a.0),
        "column": at.map(|a| a.1),
        "hint": hint,
    })
}

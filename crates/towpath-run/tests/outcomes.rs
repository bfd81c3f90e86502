//! Every row of the outcome cases: what is read out of an answer, and why nothing is.

use serde_json::Value;
use towpath_run::read_report;

fn rows() -> Vec<Value> {
    let text = include_str!("../../../tests/cases/outcomes.jsonl");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = rows[0]["cases"].as_u64().unwrap() as usize;
    assert_eq!(rows.len() - 1, count, "the file has as many rows as it says");
    rows.into_iter().skip(1).collect()
}

fn response(row: &Value) -> String {
    match row["response"].as_str() {
        Some(text) => text.to_owned(),
        None => {
            let build = &row["response_build"];
            let times = build["times"].as_u64().unwrap() as usize;
            build["repeat"].as_str().unwrap().repeat(times) + build["then"].as_str().unwrap()
        }
    }
}

#[test]
fn every_row() {
    let mut wrong = Vec::new();
    for row in rows() {
        let outcomes: Vec<&str> =
            row["outcomes"].as_array().unwrap().iter().map(|o| o.as_str().unwrap()).collect();
        let expect = &row["expect"];
        let read = read_report(&response(&row), outcomes.iter().copied());
        let right = match &read {
            Ok(report) => {
                expect["outcome"].as_str() == Some(&report.outcome)
                    && expect["description"].as_str() == report.description.as_deref()
            }
            Err(fault) => {
                let contains = expect["error_contains"].as_str();
                contains.is_some_and(|part| fault.error.contains(part))
                    && expect["malformed"].as_str() == fault.candidate.as_deref()
            }
        };
        if !right {
            wrong.push(format!("{}: {} gave {read:?}", row["id"], row["why"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

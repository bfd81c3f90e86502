//! Every row of the outcome cases: what is read out of an answer, and why nothing is.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use towpath_run::{read_report, without_report};

fn rows() -> Vec<Value> {
    let text = include_str!("../../../../tests/cases/outcomes.jsonl");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = rows[0]["cases"].as_u64().unwrap() as usize;
    assert_eq!(rows.len() - 1, count, "the file has as many rows as it states");
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

proptest! {
    /// Whatever an agent writes, it reports one of the step's outcomes or nothing.
    #[test]
    fn no_text_reports_an_outcome_that_is_not_listed(text in soup()) {
        let read = read_report(&text, OUTCOMES.into_iter());
        match &read {
            Ok(report) => {
                prop_assert!(OUTCOMES.contains(&report.outcome.as_str()));
                prop_assert_eq!(report.outcome == "other", report.description.is_some());
            }
            Err(fault) => prop_assert!(!fault.error.is_empty()),
        }
        prop_assert_eq!(read, read_report(&text, OUTCOMES.into_iter()));
    }

    /// The last line counts, whatever is before it and however it is fenced.
    #[test]
    fn what_is_before_the_last_line_changes_nothing(
        before in soup(),
        outcome in select(&OUTCOMES[..2]),
        fence in select(&["", "`", "```"][..]),
        blanks in "[ \t\n]{0,4}",
    ) {
        let text = format!("{before}\n{fence}{{\"outcome\": \"{outcome}\"}}{fence}{blanks}");
        let read = read_report(&text, OUTCOMES.into_iter());
        prop_assert_eq!(read.map(|report| report.outcome), Ok(outcome.to_owned()));
    }
}

const OUTCOMES: [&str; 3] = ["fine", "broken", "other"];

/// Texts out of the pieces that an outcome is made of, and of anything.
#[test]
fn an_answer_is_shown_without_the_line_that_reports() {
    let report = "{\"outcome\": \"ok\"}";
    for (answer, shown) in [
        (format!("Done.\n\n{report}"), "Done.\n"),
        (format!("Done.\n```json\n{report}\n```\n"), "Done.\n"),
        (format!("Done.\n`{report}`\n"), "Done.\n"),
        (format!("```\ncode\n```\n{report}\n"), "```\ncode\n```\n"),
        (format!("{report}\nThat is all.\n"), "That is all.\n"),
        (report.to_owned(), ""),
    ] {
        assert_eq!(without_report(&answer), shown, "{answer}");
    }
    let far = format!("{report}\n1\n2\n3\n4\n5");
    let others = ["Done.", "{\"a\": 1}\n", "{\"outcome\": 1}", "fn main() {\n}\n", "", &far];
    for answer in others {
        assert_eq!(without_report(answer), answer);
    }
}

fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        select(
            &[
                "{",
                "}",
                "[",
                "\"outcome\"",
                ":",
                "\"fine\"",
                "\"other\"",
                "\"otherDescription\"",
                "\"x\"",
                ",",
                "\n",
                "```json\n",
                "```",
                "`",
                " ",
                "{\"outcome\": \"fine\"}",
                "\\u0000",
                "null",
                "{\"outcome\": \"other\", \"otherDescription\": \"y\"}",
            ][..]
        )
        .prop_map(str::to_owned),
        ".{0,6}",
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

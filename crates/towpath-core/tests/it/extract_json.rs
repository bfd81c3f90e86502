//! Taking JSON out of text: the cases with the right answers, and what must be true of any text.

use proptest::prelude::*;
use towpath_core::{Value, extract_json};

const CASES: &str = include_str!("../../../../tests/cases/json-extract.jsonl");

fn output_of(case: &Value) -> String {
    if let Some(text) = case["output"].as_str() {
        return text.to_owned();
    }
    let made = &case["output_gen"];
    let times = made["times"].as_u64().expect("a count") as usize;
    let text = made["repeat"].as_str().expect("a text").repeat(times);
    text + made["append"].as_str().unwrap_or("")
}

#[test]
fn every_case_gives_its_answer() {
    let mut count = 0;
    for line in CASES.lines().skip(1) {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let found = extract_json(&output_of(&case));
        match case["expect"].as_str() {
            Some("json") => assert_eq!(found.as_ref(), Some(&case["value"]), "{line}"),
            Some("fail") => assert_eq!(found, None, "{line}"),
            other => panic!("{other:?}: {line}"),
        }
        if let Some(text) = case["render"].as_str() {
            assert_eq!(towpath_core::text_of(&found.expect("it was found")), text, "{line}");
        }
        count += 1;
    }
    assert_eq!(count, 53);
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z\"\\\\{}\\[\\]` \n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z\"{]{0,3}", inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_block_in_harmless_prose_is_found_whole(
        value in json(),
        before in "[a-z .,'\n]{0,20}",
        after in "[a-z .,'{}\\[\\]\n]{0,20}",
    ) {
        prop_assume!(value.is_object() || value.is_array());
        let text = format!("{before}{value} {after}");
        // A value that contains a fence of its own is another question.
        prop_assume!(!text.contains("```"));
        prop_assert_eq!(extract_json(&text), Some(value.clone()));
        let fenced = format!("{before}\n```json\n{value}\n```\n{after}");
        prop_assert_eq!(extract_json(&fenced), Some(value));
    }

    #[test]
    fn any_text_is_answered(text in "[\\[\\]{}\":,a1` \\\\\n]{0,60}") {
        if let Some(found) = extract_json(&text) {
            let written = serde_json::to_string(&found).expect("JSON is written");
            prop_assert_eq!(extract_json(&written), Some(found));
        }
    }
}

/// Texts made to be slow. With time that grows with the square of the text this would not end.
#[test]
fn time_grows_with_the_text() {
    for unit in
        ["[x ", "[\"", "{\"a\":[", "```json [\"", "[x \"", "[1,", "{\"a\":1,", "[x]", "\"[x"]
    {
        assert_eq!(extract_json(&unit.repeat(2_000_000)), None, "{unit}");
    }
}

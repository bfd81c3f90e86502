//! Every case of the shared case file, with the real bash.

#[allow(dead_code)]
use serde_json::Value;
use std::collections::HashMap;
use towpath_core::{VarPath, lookup, text_of};
use towpath_shell::ShellText;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/shell-values.jsonl");

fn values(case: &Value) -> towpath_core::Map {
    let mut map: towpath_core::Map =
        serde_json::from_value(case["context"].clone()).expect("a context is a map");
    for (name, generated) in case["value_gen"].as_object().into_iter().flatten() {
        let times = generated["times"].as_u64().unwrap() as usize;
        let text = generated["repeat"].as_str().unwrap().repeat(times);
        map.insert(name.clone(), serde_json::from_value(Value::String(text)).unwrap());
    }
    map
}

/// What is wrong with one case, if anything.
fn fault(case: &Value) -> Option<String> {
    let template = case["template"].as_str().unwrap();
    let expect = case["expect"].as_str().unwrap();
    let at_load = case["when"].as_str() == Some("load");
    let parsed = match ShellText::parse(template) {
        Ok(_) if at_load => return Some("was not refused when read".into()),
        Err(_) if at_load || expect == "error-or-warn" => return None,
        Err(error) => return Some(format!("refused: {error:?}")),
        Ok(parsed) => parsed,
    };
    if expect == "error-or-warn" && !parsed.warnings().is_empty() {
        return None;
    }
    let scope = values(case);
    let mut text = |path: &VarPath| lookup(&scope, path).map(text_of);
    let filled = match parsed.fill(&mut text) {
        Ok(filled) => filled,
        Err(_) if expect != "ok" && case["rc"].is_null() => return None,
        Err(error) => return Some(format!("not filled: {error:?}")),
    };
    let ran = crate::run_filled_text_in_bash::bash(&filled);
    if ran.pwned {
        return Some(format!("the value ran\n{}", filled.script));
    }
    match expect {
        "ok" if ran.stdout == case["stdout"].as_str().unwrap().as_bytes() => None,
        "error" if ran.code == case["rc"].as_i64().map(|c| c as i32) && ran.code.is_some() => None,
        _ => Some(format!(
            "rc {:?}\n{}\n{}\n{}",
            ran.code,
            filled.script,
            String::from_utf8_lossy(&ran.stdout),
            ran.stderr
        )),
    }
}

#[test]
fn every_case_passes() {
    let text = std::fs::read_to_string(CASES).unwrap();
    let cases: Vec<Value> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() > 150, "the case file is whole");
    let faults: HashMap<&str, String> = cases
        .iter()
        .filter_map(|case| fault(case).map(|f| (case["id"].as_str().unwrap(), f)))
        .collect();
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
}

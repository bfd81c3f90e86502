//! The recorded cases, with the program as a user starts it.

use crate::support::User;
use serde_json::Value;

#[test]
fn every_case_gives_what_it_should() {
    let cases = include_str!("../../../../../tests/cases/documents.jsonl");
    let failed: Vec<String> =
        cases.lines().skip(1).filter_map(|line| try_case(line).err()).collect();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(cases.lines().count(), 183);
}

fn try_case(line: &str) -> Result<(), String> {
    let case: Value = serde_json::from_str(line).expect("a case");
    let id = &case["id"];
    let mut user = User::new();
    for (path, text) in case["files"].as_object().expect("files") {
        user = user.file(path, text.as_str().expect("text"));
    }
    let mut arguments: Vec<&str> =
        case["args"].as_array().expect("args").iter().filter_map(Value::as_str).collect();
    if !arguments.iter().any(|argument| argument.ends_with(".mld")) {
        arguments.push("main.md");
    }
    let printed =
        user.command(&[&["render"], arguments.as_slice()].concat()).output().expect("it starts");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&printed.stdout), String::from_utf8_lossy(&printed.stderr));
    let code = printed.status.code();
    if let Some(expected) = case["expect"]["stdout"].as_str() {
        return match (code, stdout == expected) {
            (Some(0), true) => Ok(()),
            _ => Err(format!("{id}: {code:?} printed {stdout:?}, {stderr}")),
        };
    }
    let wanted = case["expect"]["error_contains"].as_str().expect("a text").to_lowercase();
    let line = case["expect"]["line"].as_u64().map(|line| format!("main.md:{line}"));
    let fits = matches!(code, Some(1 | 2))
        && stdout.is_empty()
        && stderr.to_lowercase().contains(&wanted)
        && line.is_none_or(|line| stderr.contains(&line));
    if fits { Ok(()) } else { Err(format!("{id}: {code:?} {stdout:?}, {stderr}")) }
}

//! The rewritten lines of the cases, run by the real bash with programs that record their arguments:
//! a renamed command gets the arguments of the original one.

use crate::correction_cases::{call_of, rows};
use crate::support::rules_of;
use std::process::{Command, Stdio};
use towpath_corrections::{Correction, RuleIndex, correct};

const PROGRAMS: &[&str] = &[
    "grep", "rg", "scp", "ls", "sed", "cat", "cp", "git", "gh", "python", "python3", "sudo", "a",
    "b", "c",
];

/// The arguments of every program that the line calls, sorted.
fn calls(line: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut script = String::new();
    for name in PROGRAMS {
        script.push_str(&format!(
            "{name}() {{ local l; printf -v l '<%s>' {name} \"$@\"; printf '%s\\n' \"$l\" >>\"$LOG\"; }}\n"
        ));
    }
    script.push_str(line);
    script.push_str("\nwait\n");
    Command::new("/bin/bash")
        .arg("-c")
        .arg(script)
        .current_dir(directory.path())
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LOG", &log)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let mut calls: Vec<String> = text.split_inclusive(">\n").map(str::to_owned).collect();
    calls.sort();
    calls
}

#[test]
fn a_renamed_command_gets_the_same_arguments() {
    let mut compared = 0;
    for row in rows() {
        let rules = rules_of(row["rules"].as_array().unwrap());
        let simple =
            row["rules"].as_array().unwrap().iter().all(|rule| {
                rule["kind"] == "command" && rule["from"] == "grep" && rule["to"] == "rg"
            });
        let Some(line) = row["line"].as_str().filter(|line| simple && !line.contains("while"))
        else {
            continue;
        };
        let Correction::Rewritten(rewrite) = correct(&call_of(&row), &RuleIndex::new(rules)) else {
            continue;
        };
        let renamed = |calls: Vec<String>| {
            let mut calls: Vec<String> =
                calls.iter().map(|call| call.replacen("<grep>", "<rg>", 1)).collect();
            calls.sort();
            calls
        };
        // A call that bash makes of words of another one is compared by the property.
        assert_eq!(renamed(calls(line)), calls(&rewrite.after), "{line}");
        compared += 1;
    }
    assert!(compared > 30, "only {compared} were compared");
}

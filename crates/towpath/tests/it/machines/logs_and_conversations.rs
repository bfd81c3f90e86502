//! What `towpath logs` shows of machines and agents: every visit, and what an agent does while it does
//! it; and how its conversation is continued by hand.

use super::{run, script, shown, user};
use crate::support::{Printed, User, until};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

fn answer(outcome: &str) -> String {
    format!("Worked.\n\n{{\"outcome\": \"{outcome}\"}}\n")
}

#[test]
fn every_visit_is_shown_in_its_order_and_each_can_be_named() {
    let user = user(&["broken", "No.", "fixed", "fine"]);
    run(&user, &["fix.yaml"]).exits(0);
    let id = user.run().to_string();
    let logs = |more: &[&str]| user.towpath(&[&["logs", &id], more].concat());
    let printed = logs(&[]).exits(0);
    assert_eq!(printed.stderr, "── look\n── fix\n── fix, reminder\n── look#2\n");
    let (broken, fixed, fine) = (answer("broken"), answer("fixed"), answer("fine"));
    assert_eq!(printed.stdout, format!("{broken}No.\n{fixed}{fine}"));
    let printed = logs(&["look"]).exits(0).prints(&format!("{broken}{fine}"));
    assert_eq!(printed.stderr, "── look\n── look#2\n");
    for (step, printed) in [("look#1", &broken), ("look#2", &fine)] {
        assert_eq!(logs(&[step]).exits(0).prints(printed).stderr, "", "{step}");
    }
    logs(&["look#3"]).exits(2).reports("no step `look#3` in this run");
}

#[test]
fn tries_are_counted_within_a_visit() {
    let user = user(&["broken", "fixed", "{\"error\":\"crash\",\"text\":\"no disk\"}"]);
    run(&user, &["fix.yaml"]).exits(4);
    script(&user, &["broken", "fixed", "{\"error\":\"crash\"}", "fine"]);
    user.towpath(&["resume", "--last"]).exits(0);
    let id = user.run().to_string();
    let printed = user.towpath(&["logs", &id, "look"]).exits(0);
    assert_eq!(printed.stderr, "── look\n── look#2, try 2 of 2\n");
    let printed = user.towpath(&["logs", &id, "look#2"]).exits(0).prints(&answer("fine"));
    assert_eq!(printed.stderr, "try 2 of 2; --all shows every one\n");
    let printed = user.towpath(&["logs", &id, "--all"]).exits(0);
    assert!(printed.stderr.ends_with("── look#2, try 1 of 2\nno disk\n── look#2, try 2 of 2\n"));
}

/// Reads a file, waits for another, and answers, in the words of Claude Code.
const CLAUDE: &str = r#"#!/bin/sh
cat > /dev/null
line() { printf '%s\n' "$1"; }
print() { line '{"type":"assistant","session_id":"s-1","message":{"content":['"$1"']}}'; }
line '{"type":"system","subtype":"init","session_id":"s-1"}'
print '{"type":"text","text":"I will look.\nThen I answer."}'
print '{"type":"tool_use","name":"Read","input":{"file_path":"'"$(pwd -P)"'/src/lib.rs"}}'
until [ -e go ]; do sleep 0.02; done
print '{"type":"text","text":"All is well.\n\n{\"outcome\": \"fine\"}"}'
line '{"type":"result","is_error":false,"session_id":"s-1","result":"All is well.\n\n{\"outcome\": \"fine\"}"}'
"#;

fn with_claude(user: &User, arguments: &[&str]) -> Command {
    let mut command = user.command(arguments);
    command.env("CLAUDE_CLI_PATH", user.program("claude", CLAUDE));
    command
}

const ANSWER: &str = "All is well.\n\n{\"outcome\": \"fine\"}\n";
const TRANSCRIPT: &str = "I will look.\nThen I answer.\n  Read src/lib.rs\n";

#[test]
fn what_an_agent_does_is_seen_from_another_terminal_and_afterwards() {
    let user = user(&[]);
    let mut runner = with_claude(&user, &["run", "fix.yaml", "--backend", "claude-code"]);
    let mut runner = runner.stdout(std::process::Stdio::null()).spawn().expect("it starts");
    until("the run is recorded", || user.has_journal() && user.newest().is_some());
    let id = user.run().to_string();
    let mut follower = user.command(&["logs", &id, "-f"]).spawn().expect("logs starts");
    let mut reported = BufReader::new(follower.stderr.take().expect("its stderr"));
    let mut live = String::new();
    for _ in 0..4 {
        reported.read_line(&mut live).expect("a line while the agent works");
    }
    assert_eq!(live, format!("── look\n{TRANSCRIPT}"));
    // A reader that does not wait sees all messages so far.
    until("what was done", || user.towpath(&["logs", &id]).stderr == TRANSCRIPT);
    user.write("go", "");
    let mut rest = String::new();
    reported.read_to_string(&mut rest).expect("the rest");
    assert_eq!(rest, "", "the answer is not shown twice");
    let mut answer = String::new();
    follower.stdout.take().expect("its stdout").read_to_string(&mut answer).expect("the answer");
    assert_eq!(answer, ANSWER);
    assert!(follower.wait().expect("logs ends").success());
    assert!(runner.wait().expect("the run ends").success());
    let printed = user.towpath(&["logs", &id, "look"]).exits(0).prints(ANSWER);
    assert_eq!(printed.stderr, TRANSCRIPT);
    let raw = user.towpath(&["logs", &id, "--raw"]).exits(0);
    assert!(raw.stdout.contains("\"type\":\"tool_use\"") && raw.stderr.is_empty(), "{raw:?}");
}

#[test]
fn a_conversation_can_be_found_and_continued_by_hand() {
    let user = user(&[]).file("go", "");
    let arguments = ["run", "fix.yaml", "--backend", "claude-code"];
    let line = "  continue the conversation: claude --resume s-1\n";
    Printed::from(with_claude(&user, &arguments).output().expect("starts")).exits(0).reports(line);
    user.towpath(&["show", user.run().as_str()]).exits(0).shows(line);
    let elsewhere = user.command(&["show", user.run().as_str()]).current_dir("/").output();
    let command = format!("cd {} && claude --resume s-1", user.path("work").display());
    Printed::from(elsewhere.expect("starts")).exits(0).shows(&command);
    let arguments = [&arguments[..], &["--json"]].concat();
    let printed = Printed::from(with_claude(&user, &arguments).output().expect("starts")).exits(0);
    for reported in [printed.json(), shown(&user)] {
        let step = &reported["steps"][0];
        assert_eq!(
            (&step["session_id"], &step["calls"][0]["session_id"], &step["calls"][0]["backend"]),
            (&json!("s-1"), &json!("s-1"), &json!("claude-code"))
        );
        assert_eq!(reported["machine"]["sessionId"], "s-1");
    }
    let printed = run(&super::user(&["fine"]), &["fix.yaml"]).exits(0);
    assert!(!printed.stderr.contains("conversation"), "a script has none: {printed:?}");
}

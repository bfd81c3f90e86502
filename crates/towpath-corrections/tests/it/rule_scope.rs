//! Where a rule counts: its host, its directory, its project.

use crate::support::*;
use serde_json::json;
use towpath_corrections::{
    Correction, Rule, RuleIndex, RuleKind, ShellTool, TimeoutParameter, ToolCall, correct, merge,
};

#[test]
fn a_rule_is_for_its_host_its_directory_and_while_it_is_enabled() {
    let call = ToolCall::claude_code("read_file", json!({}));
    let named = |host: &str| {
        rule(
            1,
            RuleKind::ToolName { from: "read_file".into(), to: "Read".into(), host: host.into() },
        )
    };
    let denied = |rule: Rule, call: &ToolCall| {
        correct(call, &RuleIndex::new(vec![rule])) != Correction::Unchanged
    };
    assert!(denied(named("claude-code"), &call));
    assert!(!denied(named("gemini"), &call));
    assert!(!denied(Rule { enabled: false, ..named("claude-code") }, &call));
    let scoped = || Rule { directory: Some("/projects/a".into()), ..named("claude-code") };
    let at = |directory: &str| ToolCall { directory: Some(directory.into()), ..call.clone() };
    assert!(denied(scoped(), &at("/projects/a/b")) && denied(scoped(), &at("/projects/a")));
    assert!(!denied(scoped(), &at("/projects/ab")) && !denied(scoped(), &call));
}

#[test]
fn the_shell_tool_of_another_host_is_meant_by_bash() {
    let call = ToolCall {
        host: "gemini".into(),
        tool: "run_shell_command".into(),
        input: json!({ "dir": "d", "cmd": "curl -k x", "secs": 5 }),
        shell: Some(ShellTool {
            command: "cmd".into(),
            timeout: Some(TimeoutParameter { name: "secs".into(), per_second: 1 }),
        }),
        directory: None,
    };
    let RuleKind::Recipe { from, to, template, .. } = recipe("curl -k", "curl {{.Args}}") else {
        panic!()
    };
    let timed = RuleKind::Recipe { from, to, template, timeout: Some(600) };
    let found = correct(&call, &RuleIndex::new(numbered(&[timed])));
    let Correction::Rewritten(rewrite) = found else { panic!("{found:?}") };
    assert_eq!(rewrite.input.to_string(), r#"{"dir":"d","cmd":"curl x","secs":600}"#);
    let found = correct(&call, &RuleIndex::new(numbered(&[regex("curl -k", "curl")])));
    assert!(matches!(found, Correction::Rewritten(r) if r.after == "curl x"));
}

#[test]
fn a_projects_rule_wins_unless_it_is_disabled() {
    let user = || numbered(&[command("grep", "rg")]);
    let project = || vec![rule(9, command("grep", "ag")), rule(10, command("ls", "eza"))];
    let numbers = |rules: Vec<Rule>| rules.iter().map(|rule| rule.number).collect::<Vec<_>>();
    assert_eq!(numbers(merge(user(), project())), [9, 10]);
    let mut disabled = project();
    disabled[0].enabled = false;
    assert_eq!(numbers(merge(user(), disabled)), [1, 10]);
}

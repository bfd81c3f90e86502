//! What is true for any text and any rule.

use crate::support::*;
use proptest::prelude::*;
use serde_json::json;
use towpath_rules::{
    Correction, Rule, RuleIndex, RuleKind, ShellTool, TimeoutParameter, ToolCall, correct, merge,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_line_gets_an_answer(line in "[\\PC\n\t]{0,60}", from in "[a-z ]{1,6}", to in "\\PC{0,12}") {
        for kind in [
            command(&from, &to), flag("a", &from, &to), literal("a", &from, &to), regex(&from, &to),
            recipe(&from, &to), refuse(&from),
        ] {
            line_after(&format!("a {line}; {from} {line}"), vec![rule(1, kind)]);
        }
    }

    #[test]
    fn a_second_correction_changes_nothing(line in "(grep|ls|scp -r|echo 'grep')( [a-z'$\"|;&-]{1,5}){0,5}") {
        let rules = || numbered(&[command("grep", "rg"), flag("scp", "r", "R")]);
        if let Some(after) = line_after(&line, rules()) {
            prop_assert_eq!(line_after(&after, rules()), None);
        }
    }
}

#[test]
fn a_line_of_64_kilobytes_is_the_longest() {
    let line = |length: usize| format!("grep {}", "a".repeat(length - 5));
    assert!(line_after(&line(64 * 1024), numbered(&[command("grep", "rg")])).is_some());
    assert!(line_after(&line(64 * 1024 + 1), numbered(&[command("grep", "rg")])).is_none());
}

#[test]
fn among_ten_thousand_rules_the_right_one_is_found() {
    let mut kinds: Vec<RuleKind> =
        (0..10_000).map(|n| command(&format!("program{n}"), &format!("other{n}"))).collect();
    kinds.push(regex("never[0-9]", "x"));
    let rules = RuleIndex::new(numbered(&kinds));
    let Correction::Rewritten(rewrite) = correct(&bash_call("a; program77 b"), &rules) else {
        panic!()
    };
    assert_eq!((rewrite.after.as_str(), rewrite.applied[0].rule), ("a; other77 b", 78));
    assert_eq!(correct(&bash_call("a; program b"), &rules), Correction::Unchanged);
}

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
    assert_eq!(numbers(merge(user(), project(), &[])), [9, 10]);
    let disabled = [project()[0].key()];
    assert_eq!(numbers(merge(user(), project(), &disabled)), [1, 10]);
}

#[test]
fn rules_and_corrections_have_a_stored_form() {
    let kinds = [
        command("grep", "rg"),
        flag("scp", "r", ""),
        literal("scp", "a", "b"),
        regex("a", "b"),
        recipe("gt x", "a\nb"),
        refuse("gt y"),
    ];
    let mut rules = numbered(&kinds);
    rules[0].message = Some("why".into());
    rules[1].enabled = false;
    let text = serde_json::to_string(&rules).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Rule>>(&text).unwrap(), rules);
    let table = std::collections::BTreeMap::from([("rule", rules.clone())]);
    let text = toml::to_string(&table).unwrap();
    let back: std::collections::BTreeMap<String, Vec<Rule>> = toml::from_str(&text).unwrap();
    assert_eq!(back["rule"], rules);
    let short: Rule = toml::from_str("number = 1\nkind = 'recipe'\nfrom = 'a'\nto = 'b'").unwrap();
    assert!(short.enabled && matches!(short.kind, RuleKind::Recipe { template: true, .. }));
    let correction = corrected("grep a", numbered(&kinds[..1]));
    let text = serde_json::to_string(&correction).unwrap();
    assert_eq!(serde_json::from_str::<Correction>(&text).unwrap(), correction);
}

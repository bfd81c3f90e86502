//! Rules and calls in few words.

use serde_json::{Value, json};
use towpath_corrections::{Correction, Rule, RuleIndex, RuleKind, Scope, ToolCall, correct};

pub fn rule(number: u64, kind: RuleKind) -> Rule {
    Rule {
        number,
        kind,
        message: None,
        enabled: true,
        directory: None,
        scope: Scope::User,
        created_ms: 1_767_225_600_000,
        hits: 0,
    }
}

/// A rule as the cases write it.
pub fn rule_of(number: u64, row: &Value) -> Rule {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let (from, to) = (text("from"), text("to"));
    let kind = match row["kind"].as_str().unwrap() {
        "tool" => RuleKind::ToolName { from, to, host: "claude-code".to_owned() },
        "flag" => RuleKind::Flag { command: text("cmd"), from, to, valued: text("valued") },
        "command" => RuleKind::Command { from, to },
        "literal" if row.get("cmd").is_some() => {
            RuleKind::Literal { command: text("cmd"), from, to }
        }
        "literal" => {
            RuleKind::ParameterLiteral { tool: text("tool"), parameter: text("param"), from, to }
        }
        "regex" => RuleKind::Regex { tool: text("tool"), parameter: text("param"), from, to },
        "recipe" => RuleKind::Recipe { from, to, template: true, timeout: None },
        "refuse" => RuleKind::Refuse { from, option: text("option") },
        other => panic!("{other}"),
    };
    Rule { message: row["message"].as_str().map(str::to_owned), ..rule(number, kind) }
}

pub fn rules_of(rows: &[Value]) -> Vec<Rule> {
    rows.iter().enumerate().map(|(index, row)| rule_of(index as u64 + 1, row)).collect()
}

pub fn bash_call(line: &str) -> ToolCall {
    ToolCall::claude_code("Bash", json!({ "command": line }))
}

pub fn corrected(line: &str, rules: Vec<Rule>) -> Correction {
    correct(&bash_call(line), &RuleIndex::new(rules))
}

/// The corrected line, `None` if it is unchanged, or the refusal.
pub fn line_after(line: &str, rules: Vec<Rule>) -> Option<String> {
    match corrected(line, rules) {
        Correction::Unchanged => None,
        Correction::Rewritten(rewrite) => {
            check_edits(&rewrite.before, &rewrite.after, &rewrite.edits);
            Some(rewrite.after)
        }
        Correction::Denied(denial) => Some(format!("DENIED {}", denial.reason)),
    }
}

/// Whether bash reads the line without an error.
fn is_accepted(line: &str) -> bool {
    let bash = std::process::Command::new("bash").args(["-n", "-c", line]).output().unwrap();
    bash.status.success() && bash.stderr.is_empty()
}

/// Nothing but the edits differs, and bash accepts what it accepted before. Every test that rewrites
/// comes by here.
pub fn check_edits(before: &str, after: &str, edits: &[towpath_corrections::Edit]) {
    let mut text = String::new();
    let mut at = 0;
    for edit in edits {
        text.push_str(&before[at..edit.range.start]);
        text.push_str(&edit.text);
        assert!(!edit.rules.is_empty());
        at = edit.range.end;
    }
    text.push_str(&before[at..]);
    assert_eq!(text, after);
    assert_ne!(before, after);
    assert!(
        is_accepted(after) || !is_accepted(before),
        "bash refuses {after:?}, made of {before:?}"
    );
}

pub fn command(from: &str, to: &str) -> RuleKind {
    RuleKind::Command { from: from.into(), to: to.into() }
}

pub fn flag(command: &str, from: &str, to: &str) -> RuleKind {
    valued_flag(command, from, to, "")
}

pub fn valued_flag(command: &str, from: &str, to: &str, valued: &str) -> RuleKind {
    RuleKind::Flag {
        command: command.into(),
        from: from.into(),
        to: to.into(),
        valued: valued.into(),
    }
}

pub fn literal(command: &str, from: &str, to: &str) -> RuleKind {
    RuleKind::Literal { command: command.into(), from: from.into(), to: to.into() }
}

pub fn regex(from: &str, to: &str) -> RuleKind {
    RuleKind::Regex {
        tool: "Bash".into(),
        parameter: "command".into(),
        from: from.into(),
        to: to.into(),
    }
}

pub fn recipe(from: &str, to: &str) -> RuleKind {
    RuleKind::Recipe { from: from.into(), to: to.into(), template: true, timeout: None }
}

pub fn refuse(from: &str) -> RuleKind {
    RuleKind::Refuse { from: from.into(), option: String::new() }
}

pub fn numbered(kinds: &[RuleKind]) -> Vec<Rule> {
    kinds.iter().enumerate().map(|(at, kind)| rule(at as u64 + 1, kind.clone())).collect()
}

/// One row of a table: rules, a line, and the line afterwards; `None` where it stays.
pub type Row<'a> = (&'a [RuleKind], &'a str, Option<&'a str>);

pub fn check_rows(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (kinds, line, expected) in rows {
        let found = line_after(line, numbered(kinds));
        if found.as_deref() != *expected {
            wrong.push(format!("{line:?}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

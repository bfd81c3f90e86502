//! Correction rules on any command line: the answer is never a panic; a corrected line parses, is the
//! original one outside of the edits, and has every command that no edit touches where the edits
//! have moved it.
//!
//! A text is a line, or `LINE ␁ FROM ␁ TO`: then rules of every kind are made of the last two.

use serde_json::json;
use std::ops::Range;
use towpath_corrections::{
    Correction, Edit, NewRule, Rewrite, Rule, RuleIndex, RuleKind, ToolCall, correct,
};
use towpath_shell::bash;

/// Between the parts of a text.
const SEPARATOR: char = '\u{1}';

pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, SEPARATOR);
    let line = parts.next().unwrap_or_default();
    match (parts.next(), parts.next()) {
        (Some(from), Some(to)) => {
            for kind in kinds(from, to) {
                let new = NewRule { kind, message: None, directory: None };
                if let Ok(rule) = new.check(1, false) {
                    corrected(line, vec![rule]);
                }
            }
        }
        _ => corrected(line, usual_rules()),
    }
}

fn kinds(from: &str, to: &str) -> Vec<RuleKind> {
    let (from, to) = (from.to_owned(), to.to_owned());
    let command = "grep".to_owned();
    let (tool, parameter) = ("Bash".to_owned(), "command".to_owned());
    vec![
        RuleKind::Command { from: from.clone(), to: to.clone() },
        RuleKind::Recipe { from: from.clone(), to: to.clone(), template: true, timeout: None },
        RuleKind::Recipe { from: from.clone(), to: to.clone(), template: false, timeout: None },
        RuleKind::Flag {
            command: command.clone(),
            from: from.clone(),
            to: to.clone(),
            valued: String::new(),
        },
        RuleKind::Literal { command, from: from.clone(), to: to.clone() },
        RuleKind::Regex { tool, parameter, from, to },
    ]
}

fn usual_rules() -> Vec<Rule> {
    let kinds = [
        ("command", "grep", "rg"),
        ("command", "git co", "git checkout"),
        ("recipe", "gt wait", "while true; do gt status; sleep 5; done"),
        ("recipe", "bd show", "id=\"{{.Arg 1}}\"; bd get \"$id\" {{.Args}}"),
        ("recipe", "bd list", "{{if .Args}}bd ls {{.Args}}{{else}}bd ls{{end}}"),
    ];
    let of = |(kind, from, to): (&str, &str, &str)| match kind {
        "command" => RuleKind::Command { from: from.into(), to: to.into() },
        _ => RuleKind::Recipe { from: from.into(), to: to.into(), template: true, timeout: None },
    };
    let flag = |command: &str, from: &str, to: &str| RuleKind::Flag {
        command: command.into(),
        from: from.into(),
        to: to.into(),
        valued: String::new(),
    };
    let literal =
        RuleKind::Literal { command: "ssh".into(), from: "host".into(), to: "other".into() };
    let regex = RuleKind::Regex {
        tool: "Bash".into(),
        parameter: "command".into(),
        from: "curl -k( |$)".into(),
        to: "curl --cacert c.pem$1".into(),
    };
    let more = [flag("scp", "r", "R"), flag("scp", "q", ""), flag("git push", "force", "no-force")];
    let kinds = kinds.into_iter().map(of).chain(more).chain([literal, regex]);
    let rule = |(number, kind): (usize, RuleKind)| {
        let new = NewRule { kind, message: None, directory: None };
        new.check(number as u64 + 1, false).expect("a usual rule")
    };
    kinds.enumerate().map(rule).collect()
}

fn corrected(line: &str, rules: Vec<Rule>) {
    let call = ToolCall::claude_code("Bash", json!({ "command": line }));
    let Correction::Rewritten(rewrite) = correct(&call, &RuleIndex::new(rules)) else { return };
    let Rewrite { before, after, edits, .. } = &rewrite;
    assert_eq!(before, line);
    assert_ne!(before, after, "a correction changes something");
    assert_eq!(&applied(before, edits), after, "{edits:?}");
    let old = bash::parse(before).expect("what does not parse is left alone");
    let new = bash::parse(after).expect("what is written parses");
    let new: Vec<&Range<usize>> = new.commands().iter().map(|command| &command.range).collect();
    for command in old.commands() {
        let range = &command.range;
        let apart = |edit: &Edit| edit.range.end < range.start || range.end < edit.range.start;
        if edits.iter().all(apart) {
            let moved = moved(range.start, edits)..moved(range.end, edits);
            assert_eq!(after[moved.clone()], before[range.clone()]);
            assert!(new.contains(&&moved), "{:?} is gone from {after:?}", &before[range.clone()]);
        }
    }
}

fn applied(text: &str, edits: &[Edit]) -> String {
    let mut edited = String::new();
    let mut at = 0;
    for edit in edits {
        edited.push_str(&text[at..edit.range.start]);
        edited.push_str(&edit.text);
        at = edit.range.end;
    }
    edited + &text[at..]
}

/// Where a position outside of all edits is afterwards.
fn moved(at: usize, edits: &[Edit]) -> usize {
    let before = edits.iter().filter(|edit| edit.range.end <= at);
    let (grown, shrunk) = before
        .fold((0, 0), |(grown, shrunk), edit| (grown + edit.text.len(), shrunk + edit.range.len()));
    at + grown - shrunk
}

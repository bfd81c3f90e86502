//! Every rule of the starter set does what its lines show.

use crate::support::{bash_call, line_after};
use serde_json::json;
use std::collections::HashSet;
use towpath_corrections::{
    Correction, NewRule, Rule, RuleIndex, RuleKind, STARTER, StarterRule, ToolCall, correct,
    warnings,
};

/// The rules of each starter.
fn created() -> Vec<Vec<Rule>> {
    let mut number = 0;
    let mut rules = |starter: &StarterRule| {
        let each = |new: NewRule| {
            number += 1;
            let rule = new.check(number, false);
            rule.unwrap_or_else(|error| panic!("{}: {error}", starter.name))
        };
        starter.rules().into_iter().map(each).collect()
    };
    STARTER.iter().map(&mut rules).collect()
}

#[test]
fn each_rule_changes_its_lines_and_no_other() {
    for (starter, rules) in STARTER.iter().zip(created()) {
        let (name, rule) = (&starter.name, &rules[0]);
        assert!(!starter.changed.is_empty() && !starter.unchanged.is_empty(), "{name}");
        if let RuleKind::ToolName { to, .. } = &rule.kind {
            let answer = |tool: &str| {
                correct(&ToolCall::claude_code(tool, json!({})), &RuleIndex::new(rules.clone()))
            };
            for (tool, right) in &starter.changed {
                assert_eq!(to, right);
                let found = answer(tool);
                assert!(
                    matches!(&found, Correction::Denied(d) if d.reason.contains(right)),
                    "{name}"
                );
            }
            starter.unchanged.iter().for_each(|t| assert_eq!(answer(t), Correction::Unchanged));
            continue;
        }
        for (before, after) in &starter.changed {
            let found = line_after(before, rules.clone()).unwrap_or_default();
            match rule.kind {
                RuleKind::Refuse { .. } => {
                    let reason = format!("is refused: {}", starter.message);
                    let denied = found.starts_with("DENIED `") && found.ends_with(&reason);
                    assert!(denied, "{name}: {before}: {found}");
                }
                _ => assert_eq!(found, *after, "{name}: {before}"),
            }
        }
        for line in &starter.unchanged {
            assert_eq!(line_after(line, rules.clone()), None, "{name}: {line}");
        }
    }
}

#[test]
fn all_of_them_together_do_the_same() {
    let rules = created().concat();
    let index = RuleIndex::new(rules.clone());
    let mut names = HashSet::new();
    for (starter, own) in STARTER.iter().zip(created()) {
        assert!(names.insert(&starter.name), "{} is there twice", starter.name);
        for rule in &own {
            assert_eq!(warnings(rule, &rules, &|_| true), [], "{}", starter.name);
        }
        let rule = &own[0];
        if matches!(rule.kind, RuleKind::ToolName { .. } | RuleKind::Refuse { .. }) {
            continue;
        }
        for (before, after) in &starter.changed {
            let Correction::Rewritten(rewrite) = correct(&bash_call(before), &index) else {
                panic!("{before}");
            };
            assert_eq!(rewrite.after, *after);
            assert_eq!(correct(&bash_call(after), &index), Correction::Unchanged, "{after}");
        }
    }
    let keys: HashSet<_> = rules.iter().map(Rule::key).collect();
    assert_eq!(keys.len(), rules.len());
}

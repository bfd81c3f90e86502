//! Correction rules as the user reads them before agreeing: every rule, whole.

use super::plan_as_text::{block, visible};
use towpath_corrections::{Rule, RuleKind};

/// What each rule would change.
pub fn rules(rules: &[Rule]) -> String {
    let mut text = String::new();
    for rule in rules {
        let off = if rule.enabled { "" } else { ", disabled" };
        let kind = rule.kind.name().as_str();
        text.push_str(&format!("  {kind}{off}: {}", visible(&looked_for(&rule.kind))));
        match &rule.kind {
            RuleKind::Refuse { .. } => text.push_str(" is refused\n"),
            kind if kind.to().is_empty() => text.push_str(" is left out\n"),
            kind => {
                text.push_str(" becomes\n");
                block(kind.to(), &mut text);
            }
        }
        let more = [("message", &rule.message), ("only in", &rule.directory)];
        for (what, value) in more {
            if let Some(value) = value {
                text.push_str(&format!("    {what}: {}\n", visible(value)));
            }
        }
        if let RuleKind::Recipe { timeout: Some(seconds), .. } = &rule.kind {
            text.push_str(&format!("    timeout: {seconds} s\n"));
        }
    }
    text
}

/// What a rule looks for, and where.
fn looked_for(kind: &RuleKind) -> String {
    match kind {
        RuleKind::ToolName { from, host, .. } | RuleKind::ToolRecipe { from, host, .. } => {
            format!("a call of {from} in {host}")
        }
        RuleKind::Flag { command, from, .. } => format!("option {from} of {command}"),
        RuleKind::Literal { command, from, .. } => format!("{from} in {command}"),
        RuleKind::ParameterLiteral { tool, parameter, from, .. }
        | RuleKind::Regex { tool, parameter, from, .. } => {
            format!("{from} in {parameter} of {tool}")
        }
        RuleKind::Refuse { from, option } if !option.is_empty() => format!("{from} with {option}"),
        RuleKind::Command { from, .. }
        | RuleKind::Recipe { from, .. }
        | RuleKind::Refuse { from, .. } => from.clone(),
    }
}

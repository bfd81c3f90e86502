//! A rule as users and programs see it.

use crate::terminal::format::clean;
use crate::terminal::table::cut;
use serde_json::{Map, Value, json};
use towpath_rules::{Rule, RuleKind, Scope};

/// What a rule looks for, with the command or the tool that it is about.
fn looks_for(kind: &RuleKind) -> String {
    match kind {
        RuleKind::Flag { command, from, .. } | RuleKind::Literal { command, from, .. } => {
            format!("{command} {from}")
        }
        RuleKind::ParameterLiteral { tool, parameter, from, .. } => {
            format!("{tool}.{parameter}: {from}")
        }
        kind => kind.from().to_owned(),
    }
}

/// What it writes instead, in a line.
fn becomes(rule: &Rule) -> String {
    let one_line = |text: &str| text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ");
    match &rule.kind {
        RuleKind::Refuse { .. } => {
            format!("refused: {}", one_line(rule.message.as_deref().unwrap_or_default()))
        }
        kind if kind.to().is_empty() => "(dropped)".to_owned(),
        kind => one_line(kind.to()),
    }
}

/// A longer script is shown by its beginning.
const LONGEST: usize = 60;

/// `scp -r → -R`, in a line.
pub fn summary(rule: &Rule) -> String {
    let (from, to) = (clean(&looks_for(&rule.kind)), clean(&becomes(rule)));
    format!("{from} → {}", cut(&to, LONGEST))
}

/// Every key is always there.
pub fn rule_json(rule: &Rule) -> Value {
    let mut fields = Map::from_iter([("number".to_owned(), json!(rule.number))]);
    if let Ok(Value::Object(kind)) = serde_json::to_value(&rule.kind) {
        fields.extend(kind);
    }
    let scope = match rule.scope {
        Scope::User => "user",
        Scope::Project => "project",
    };
    fields.extend([
        ("message".to_owned(), json!(rule.message)),
        ("directory".to_owned(), json!(rule.directory)),
        ("scope".to_owned(), json!(scope)),
        ("enabled".to_owned(), json!(rule.enabled)),
        ("created_at".to_owned(), json!((!rule.created_at.is_empty()).then_some(&rule.created_at))),
        ("hits".to_owned(), json!(rule.hits)),
    ]);
    Value::Object(fields)
}

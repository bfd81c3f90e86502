//! From rules to the text of a file. What is as usual is left out.

use super::{AboutRules, RulesFormat};
use crate::dp_alias::DpAlias;
use crate::new_rule::NewRule;
use crate::rule::{Rule, RuleKind, SHELL_PARAMETER, SHELL_TOOL};
use crate::tool_call::DEFAULT_HOST;
use serde::Serialize;
use serde_json::Value;

/// The rules as a file that [`super::read_rules`] reads back.
pub fn write_rules(rules: &[Rule], about: &AboutRules, format: RulesFormat) -> String {
    let file = WrittenFile { about, rule: rules.iter().map(written).collect() };
    match format {
        RulesFormat::Toml => toml_text(&file),
        RulesFormat::Json => {
            let text = serde_json::to_string_pretty(&file).expect("strings and maps are JSON");
            format!("{text}\n")
        }
    }
}

/// The rules as a collection that `dp` reads, and how many of them it has a word for.
pub fn write_dp_aliases(
    rules: &[Rule],
    about: &AboutRules,
    exported_at: &str,
    format: RulesFormat,
) -> (String, usize) {
    let aliases: Vec<DpAlias> = rules.iter().filter_map(DpAlias::of).collect();
    let count = aliases.len();
    let mut meta = serde_json::to_value(about).expect("strings are JSON");
    meta["version"] = 1.into();
    meta["exported_at"] = exported_at.into();
    meta["count"] = count.into();
    let text = match format {
        RulesFormat::Json => {
            let all = serde_json::json!({ "meta": meta, "aliases": aliases });
            format!("{}\n", serde_json::to_string_pretty(&all).expect("strings are JSON"))
        }
        RulesFormat::Toml => {
            // A date of TOML is not in quotes.
            let meta = toml_keys(&meta).replace(&format!("\"{exported_at}\""), exported_at);
            let tables = aliases.iter().map(|alias| format!("\n[[aliases]]\n{}", toml_keys(alias)));
            format!("[meta]\n{meta}{}", tables.collect::<String>())
        }
    };
    (text, count)
}

fn toml_text(file: &WrittenFile<'_>) -> String {
    let mut tables = Vec::new();
    let about = toml_keys(file.about);
    if !about.is_empty() {
        tables.push(about);
    }
    tables.extend(file.rule.iter().map(|rule| format!("[[rule]]\n{}", toml_keys(rule))));
    tables.join("\n")
}

/// The keys of a table, one in a line but for scripts.
fn toml_keys(table: &impl Serialize) -> String {
    let value = serde_json::to_value(table).expect("strings, numbers and booleans are JSON");
    let keys = value.as_object().into_iter().flatten();
    keys.map(|(key, value)| match value {
        Value::String(text) => format!("{key} = {}\n", toml_string(text)),
        other => format!("{key} = {other}\n"),
    })
    .collect()
}

/// A script is written as it is, between `'''`, wherever TOML allows it.
fn toml_string(text: &str) -> String {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    let as_it_is = !text.contains("'''") && !text.ends_with('\'') && !text.contains(odd);
    match text.contains('\n') && as_it_is {
        true => format!("'''\n{text}'''"),
        false => toml::Value::String(text.to_owned()).to_string(),
    }
}

#[derive(Serialize)]
struct WrittenFile<'a> {
    #[serde(flatten)]
    about: &'a AboutRules,
    rule: Vec<WrittenRule<'a>>,
}

/// The keys in the order in which a rule is read best.
#[derive(Serialize, Default)]
struct WrittenRule<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    from: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valued: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    force: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enabled: Option<bool>,
}

fn written(rule: &Rule) -> WrittenRule<'_> {
    let plain = WrittenRule {
        kind: rule.kind.name().as_str(),
        from: rule.kind.from(),
        to: Some(rule.kind.to()),
        message: rule.message.as_deref(),
        directory: rule.directory.as_deref(),
        enabled: (!rule.enabled).then_some(false),
        ..WrittenRule::default()
    };
    match &rule.kind {
        RuleKind::ToolName { host, .. } | RuleKind::ToolRecipe { host, .. } => {
            WrittenRule { host: unusual(host, DEFAULT_HOST), ..plain }
        }
        RuleKind::Flag { command, valued, .. } => {
            WrittenRule { command: Some(command), valued: unusual(valued, ""), ..plain }
        }
        RuleKind::Command { .. } => plain,
        RuleKind::Literal { command, .. } => WrittenRule { command: Some(command), ..plain },
        RuleKind::ParameterLiteral { tool, parameter, .. } => WrittenRule {
            tool: Some(tool),
            parameter: unusual(parameter, SHELL_PARAMETER),
            ..plain
        },
        RuleKind::Regex { tool, parameter, .. } => WrittenRule {
            tool: unusual(tool, SHELL_TOOL),
            parameter: unusual(parameter, SHELL_PARAMETER),
            ..plain
        },
        RuleKind::Recipe { template, timeout, .. } => WrittenRule {
            template: (!template).then_some(false),
            timeout: *timeout,
            force: is_forced(rule).then_some(true),
            ..plain
        },
        RuleKind::Refuse { option, .. } => {
            WrittenRule { to: None, option: unusual(option, ""), ..plain }
        }
    }
}

fn unusual<'a>(value: &'a str, usual: &str) -> Option<&'a str> {
    (value != usual).then_some(value)
}

/// Whether the rule was created although its script is not understood.
fn is_forced(rule: &Rule) -> bool {
    let (kind, message) = (rule.kind.clone(), rule.message.clone());
    !NewRule { kind, message, directory: None }.problems(false).is_empty()
}

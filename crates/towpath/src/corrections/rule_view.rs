//! A rule as users and programs see it.

use crate::environment::Environment;
use crate::terminal::format::{clean, rfc3339};
use crate::terminal::screen::cut;
use crate::terminal::shown_path::shown_path;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use towpath_corrections::{Rule, RuleKind, RuleWarning, Scope, warnings};

/// What a rule looks for, with the command or the tool that it is about.
fn looks_for(kind: &RuleKind) -> String {
    match kind {
        RuleKind::Flag { command, from, .. } | RuleKind::Literal { command, from, .. } => {
            format!("{command} {from}")
        }
        RuleKind::ParameterLiteral { tool, parameter, from, .. } => {
            format!("{tool}.{parameter}: {from}")
        }
        RuleKind::Refuse { from, option } if !option.is_empty() => format!("{from} {option}"),
        kind => kind.from().to_owned(),
    }
}

/// Oddities of a rule among others, on this machine.
pub fn warnings_here(env: &Environment, rule: &Rule, others: &[Rule]) -> Vec<RuleWarning> {
    warnings(rule, others, &|program| match program.contains('/') {
        true => env.current.join(env.expand_home(Path::new(program))).exists(),
        false => env.on_path(program).is_some(),
    })
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

/// The directory that a rule is limited to.
pub fn directory_line(rule: &Rule, env: &Environment) -> Option<String> {
    let directory = rule.directory.as_deref()?;
    Some(format!("only in {}", shown_path(Path::new(directory), env)))
}

/// What a rule had before another one with its key replaced it, a line for each difference.
pub fn replaced_lines(old: &Rule, new: &Rule, env: &Environment) -> Vec<String> {
    let none = || "none".to_owned();
    let text = |text: Option<&String>| text.map_or_else(none, |text| clean(text));
    let directory = |rule: &Rule| directory_line(rule, env).unwrap_or_else(|| "everywhere".into());
    let (before, after) = (details(&old.kind), details(&new.kind));
    let mut lines = Vec::new();
    if old.kind.to() != new.kind.to() {
        lines.push(format!("it was: {}", summary(old)));
    }
    for ((what, before), (_, after)) in before.into_iter().zip(after) {
        if before != after {
            lines.push(format!("{what} was: {}", before.unwrap_or_else(none)));
        }
    }
    if old.message != new.message && !matches!(new.kind, RuleKind::Refuse { .. }) {
        lines.push(format!("message was: {}", text(old.message.as_ref())));
    } else if old.message != new.message {
        lines.push(format!("it was: {}", summary(old)));
    }
    if old.directory != new.directory {
        lines.push(format!("directory was: {}; is: {}", directory(old), directory(new)));
    }
    if old.enabled != new.enabled {
        lines.push(format!("it was {}", if old.enabled { "enabled" } else { "disabled" }));
    }
    if lines.is_empty() {
        lines.push("nothing has changed".to_owned());
    }
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

/// What a rule of this kind has beside its texts.
fn details(kind: &RuleKind) -> [(&'static str, Option<String>); 3] {
    let (mut valued, mut timeout, mut template) = (None, None, None);
    match kind {
        RuleKind::Flag { valued: letters, .. } if !letters.is_empty() => {
            valued = Some(clean(letters));
        }
        RuleKind::Recipe { timeout: seconds, template: on, .. } => {
            timeout = seconds.map(|seconds| format!("{seconds} s"));
            template = Some(if *on { "used" } else { "not used" }.to_owned());
        }
        _ => {}
    }
    [("letters with a value", valued), ("timeout", timeout), ("template", template)]
}

/// A rule for other programs. Every key is always there.
#[derive(Serialize)]
struct RuleRow<'a> {
    number: u64,
    #[serde(flatten)]
    kind: &'a RuleKind,
    message: &'a Option<String>,
    directory: &'a Option<String>,
    scope: Scope,
    enabled: bool,
    created_at: Option<String>,
    hits: u64,
}

pub fn rule_json(rule: &Rule) -> Value {
    let Rule { number, kind, message, enabled, directory, scope, created_ms, hits } = rule;
    let created_at = (*created_ms != 0).then(|| rfc3339(*created_ms));
    let (number, scope, enabled, hits) = (*number, *scope, *enabled, *hits);
    json!(RuleRow { number, kind, message, directory, scope, enabled, created_at, hits })
}

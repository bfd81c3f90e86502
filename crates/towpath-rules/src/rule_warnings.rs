//! What is odd about a rule, though it is accepted.

use crate::recipe::template::Template;
use crate::recipe::wrap_in_braces_or_subshell::Shape;
use crate::recipe::{marked, variants};
use crate::rule::{Rule, RuleKind};
use crate::{command_prefix, text_and_regex_matches};
use serde::{Deserialize, Serialize};
use towpath_shell::bash;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "warning", rename_all = "kebab-case")]
pub enum RuleWarning {
    /// A rule is not applied to what another one wrote, but the agent may be sent in a circle.
    #[error("rules {numbers:?} lead back to where they begin")]
    Cycle { numbers: Vec<u64> },
    #[error("the recipe calls `{command}`: in a longer line it runs in a subshell")]
    ChangesShell { command: String },
    #[error("the result matches the rule again")]
    MatchesItself,
}

/// The warnings for a rule among the others.
pub fn warnings(rule: &Rule, others: &[Rule]) -> Vec<RuleWarning> {
    let mut found = Vec::new();
    if let Some(numbers) = cycle(rule, others) {
        found.push(RuleWarning::Cycle { numbers });
    }
    match &rule.kind {
        RuleKind::Recipe { .. } => {
            let script = recipe_script(rule);
            let shape = script.as_ref().map(Shape::new);
            let command = shape.as_ref().and_then(Shape::changes_shell).map(str::to_owned);
            found.extend(command.map(|command| RuleWarning::ChangesShell { command }));
        }
        RuleKind::Regex { from, to, .. } => {
            let again = text_and_regex_matches::matches(to, from, "").into_iter().next().is_some();
            found.extend(again.then_some(RuleWarning::MatchesItself));
        }
        _ => {}
    }
    found
}

fn recipe_script(rule: &Rule) -> Option<bash::Script> {
    let RuleKind::Recipe { to, template, .. } = &rule.kind else { return None };
    let template = if *template { Template::parse(to).ok()? } else { Template::plain(to) };
    marked(variants(&template).first()?).map(|(script, _)| script)
}

/// The commands that a rule writes, each as its first static words; a tool's name for such a rule.
fn results(rule: &Rule) -> Vec<Vec<String>> {
    let of_script = |script: &bash::Script| {
        let leading = |c: &bash::SimpleCommand| {
            c.words.iter().map_while(|w| w.fixed().map(str::to_owned)).collect()
        };
        script.commands().iter().map(leading).collect()
    };
    match &rule.kind {
        RuleKind::ToolName { to, .. } => vec![vec![to.clone()]],
        RuleKind::Command { to, .. } => {
            bash::parse(to).ok().as_ref().map(of_script).unwrap_or_default()
        }
        RuleKind::Recipe { .. } => recipe_script(rule).as_ref().map(of_script).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Whether a rule is about something that another one writes.
fn leads_to(rule: &Rule, next: &Rule) -> bool {
    let tools = |rule: &Rule| matches!(rule.kind, RuleKind::ToolName { .. });
    let looked_for = match &next.kind {
        RuleKind::ToolName { from, .. } => Some(vec![from.clone()]),
        RuleKind::Command { from, .. } | RuleKind::Recipe { from, .. } => {
            command_prefix::static_words(from)
        }
        _ => None,
    };
    tools(rule) == tools(next)
        && looked_for.is_some_and(|from| results(rule).iter().any(|words| words.starts_with(&from)))
}

/// The rules on a way from `rule` back to it. A rule that writes its own command again is none.
fn cycle(rule: &Rule, others: &[Rule]) -> Option<Vec<u64>> {
    let mut ways = vec![vec![rule]];
    let mut seen = vec![rule.number];
    while let Some(way) = ways.pop() {
        let last = way.last()?;
        if way.len() > 1 && leads_to(last, rule) {
            return Some(way.iter().map(|rule| rule.number).collect());
        }
        for next in others.iter().filter(|other| leads_to(last, other)) {
            if !seen.contains(&next.number) {
                seen.push(next.number);
                ways.push(way.iter().copied().chain([next]).collect());
            }
        }
    }
    None
}

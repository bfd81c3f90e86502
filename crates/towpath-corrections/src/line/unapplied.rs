//! Why a rule changes nothing in a line although a command of it begins with the rule's words. For
//! the user who tests a rule; no hook asks.

use super::{by_longest_prefix, command_candidates, defined_functions, no_code};
use crate::command_prefix;
use crate::correct_tool_call::text_edits;
use crate::correction::{Correction, Edit};
use crate::recipe::{self, Obstacle};
use crate::rule::{Rule, RuleKind};
use crate::rule_index::is_on_command_line;
use crate::tool_call::ToolCall;
use towpath_shell::bash::{self, Script, SimpleCommand};

/// A rule that matches a command of the line, and why it was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unapplied {
    pub rule: u64,
    pub reason: String,
    /// The command does not have what the rule changes in it, such as the option.
    pub absent: bool,
}

/// The rules about a command of the call that are not part of its correction, each once. `None`: the
/// line is not understood as bash, so that no rule is applied.
pub fn unapplied(
    call: &ToolCall,
    rules: &[&Rule],
    correction: &Correction,
) -> Option<Vec<Unapplied>> {
    let Some((_, line)) = call.command() else { return Some(Vec::new()) };
    let applied: Vec<u64> = match correction {
        Correction::Unchanged => Vec::new(),
        Correction::Rewritten(rewrite) => rewrite.applied.iter().map(|a| a.rule).collect(),
        // One refused command is enough: the others were not looked at.
        Correction::Denied(_) => return Some(Vec::new()),
    };
    let script = bash::parse(line).ok()?;
    let mut found = Vec::new();
    for rule in rules.iter().filter(|rule| !applied.contains(&rule.number)) {
        let mut reasons = (0..script.commands().len())
            .filter_map(|index| reason(call, &script, index, rule, rules));
        if let Some((reason, absent)) = reasons.next().or_else(|| match_reason(&script, rule)) {
            found.push(Unapplied { rule: rule.number, reason, absent });
        }
    }
    Some(found)
}

/// Why the rule does not change this command, and whether it has nothing to change there. `None`: the
/// rule is about other commands.
fn reason(
    call: &ToolCall,
    script: &Script,
    index: usize,
    rule: &Rule,
    rules: &[&Rule],
) -> Option<(String, bool)> {
    let command = &script.commands()[index];
    let words = rule.kind.command().and_then(command_prefix::static_words)?;
    if !command_prefix::begins_with(command, &words) {
        return None;
    }
    let because = |text: &str| Some((text.to_owned(), false));
    let usable = |rule: &Rule| rule.enabled && call.is_in(rule.directory.as_deref());
    if !rule.enabled {
        return because("it is disabled");
    }
    if !usable(rule) {
        let directory = rule.directory.as_deref().unwrap_or_default();
        return Some((format!("it is only for calls in {directory}"), false));
    }
    if command.name().is_some_and(|name| defined_functions(script).contains(name)) {
        return because("the line defines a function of that name");
    }
    let usable: Vec<&Rule> = rules.iter().copied().filter(|rule| usable(rule)).collect();
    match &rule.kind {
        RuleKind::Refuse { option, .. } if !option.is_empty() => {
            Some((format!("the command has no option {option}"), true))
        }
        RuleKind::Recipe { .. } | RuleKind::Refuse { .. } => {
            let best = by_longest_prefix(index, command, &usable)?;
            match best.rule.number == rule.number {
                false => Some((format!("rule {} matches more of it", best.rule.number), false)),
                true => Some((obstacle(script, command, rule, words.len()), false)),
            }
        }
        kind => {
            if let Some(other) = replaced_by_recipe(script, index, &usable) {
                return Some((format!("rule {other} replaces the whole command"), false));
            }
            let changes = command_candidates(script, index, &usable);
            let edits = changes.iter().flat_map(|candidate| &candidate.edits);
            if edits.into_iter().any(|edit| edit.rules.contains(&rule.number)) {
                return because(UNCERTAIN);
            }
            Some(match kind {
                RuleKind::Flag { from, .. } => {
                    (format!("the command does not have the option {from}"), true)
                }
                RuleKind::Literal { .. } => ("its words do not have that text".to_owned(), true),
                _ => (Obstacle::Corrected.to_string(), false),
            })
        }
    }
}

/// Why a rule on the text of the line changes nothing although it matches.
fn match_reason(script: &Script, rule: &Rule) -> Option<(String, bool)> {
    let edits = text_edits(script.text(), rule);
    if !is_on_command_line(rule) || edits.is_empty() {
        return None;
    }
    let data = no_code::find(script);
    let is_data = |edit: &Edit| no_code::is_data(&data, edit.range.start);
    Some(match edits.iter().all(is_data) {
        true => ("what it matches is in quotes, a here-document or a comment".to_owned(), false),
        false => (
            "what it matches ends inside of a word, or the result is not certain".to_owned(),
            false,
        ),
    })
}

const UNCERTAIN: &str = "another rule changes the same words, or the result is not certain";

/// What prevents a recipe.
fn obstacle(script: &Script, command: &SimpleCommand, rule: &Rule, words: usize) -> String {
    match recipe::replace(script, command, rule, words, &[]) {
        Err(obstacle) => obstacle.to_string(),
        Ok(_) => UNCERTAIN.to_owned(),
    }
}

fn replaced_by_recipe(script: &Script, index: usize, rules: &[&Rule]) -> Option<u64> {
    let command = &script.commands()[index];
    let best = by_longest_prefix(index, command, rules)?;
    recipe::replace(script, command, best.rule, best.words, &[]).ok()?;
    Some(best.rule.number)
}

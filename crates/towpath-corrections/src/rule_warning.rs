//! What is odd about a rule, though it is accepted.

use crate::line::is_known_option;
use crate::recipe::grouping::Shape;
use crate::recipe::template::{Piece, Template, Value};
use crate::recipe::{marked, variants};
use crate::rule::{Rule, RuleKind};
use crate::{command_prefix, text_matches};
use towpath_core::{data_rows, data_section};
use towpath_shell::bash;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleWarning {
    /// A rule is not applied to what another one wrote, but the agent may be sent in a circle.
    #[error("rules {numbers:?} lead back to where they begin")]
    Cycle { numbers: Vec<u64> },
    #[error("the recipe calls `{command}`: in a longer line it runs in a subshell")]
    ChangesShell { command: String },
    #[error("the result matches the rule again")]
    MatchesItself,
    #[error("`{program}` is not installed here: the corrected command would fail")]
    MissingProgram { program: String },
    #[error("in `{program}`, {options} mean something else than in the command it replaces")]
    OtherMeaning { program: String, options: &'static str },
    #[error("if {option} takes a value in the next word, that word stays")]
    LeavesValue { option: String },
    /// Of a recipe that takes no word of the agent.
    #[error(
        "it runs without a question where its command is alone in the line, also where the agent program \
         would ask for what the script does; see the setting corrections.permission"
    )]
    Allowed,
}

const FACTS: &str = include_str!("rule_warnings.txt");

/// The warnings for a rule among the others. `is_installed`: whether a program is there.
pub fn warnings(
    rule: &Rule,
    others: &[Rule],
    is_installed: &dyn Fn(&str) -> bool,
) -> Vec<RuleWarning> {
    let mut found = of_programs(rule, is_installed);
    if let Some(numbers) = cycle(rule, others) {
        found.push(RuleWarning::Cycle { numbers });
    }
    match &rule.kind {
        RuleKind::Recipe { .. } => {
            let script = recipe_script(rule);
            let shape = script.as_ref().map(Shape::new);
            let command = shape.as_ref().and_then(Shape::changes_shell).map(str::to_owned);
            found.extend(command.map(|command| RuleWarning::ChangesShell { command }));
            found.extend(takes_no_word(rule).then_some(RuleWarning::Allowed));
        }
        RuleKind::Flag { command, from, to, valued } if to.is_empty() => {
            let leaves = leaves_value(command, from, valued);
            found.extend(leaves.then(|| RuleWarning::LeavesValue { option: from.clone() }));
        }
        RuleKind::Regex { from, to, .. } => {
            let again = text_matches::matches(to, from, "").into_iter().next().is_some();
            found.extend(again.then_some(RuleWarning::MatchesItself));
        }
        _ => {}
    }
    found
}

/// Oddities of the programs that a rule writes.
fn of_programs(rule: &Rule, is_installed: &dyn Fn(&str) -> bool) -> Vec<RuleWarning> {
    let Some(from) = rule.kind.command().and_then(command_prefix::static_words) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for words in results(rule) {
        let Some(program) = words.first().filter(|program| **program != from[0]) else { continue };
        let program = program.clone();
        let mut builtins = data_section(FACTS, "builtins").lines();
        if !builtins.any(|builtin| builtin == program) && !is_installed(&program) {
            found.push(RuleWarning::MissingProgram { program: program.clone() });
        }
        let differs = |[old, new, _]: &[&str; 3]| {
            let begins = |words: &[String], text: &str| {
                words.starts_with(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
            };
            matches!(rule.kind, RuleKind::Command { .. })
                && begins(&from, old)
                && begins(&words, new)
        };
        let mut meanings = data_rows(data_section(FACTS, "other-meanings"));
        if let Some([_, _, options]) = meanings.find(differs) {
            found.push(RuleWarning::OtherMeaning { program, options });
        }
    }
    found.dedup();
    found
}

/// Whether nothing of the agent is in what a recipe writes.
fn takes_no_word(rule: &Rule) -> bool {
    let RuleKind::Recipe { to, template, .. } = &rule.kind else { return false };
    let words = |piece: &Piece| matches!(piece, Piece::Value(value) if *value != Value::Matched);
    !template || Template::parse(to).is_ok_and(|t| variants(&t).iter().flatten().all(|p| !words(p)))
}

/// Whether dropping an option may leave its value behind: it is not known to take none.
fn leaves_value(command: &str, option: &str, valued: &str) -> bool {
    let words = command_prefix::static_words(command).unwrap_or_default();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    valued.is_empty() && !is_known_option(word(0), word(1), option)
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

//! The entry: what becomes of one call.

use crate::correction::{Applied, Correction, Denial, Edit, Rewrite, apply};
use crate::rule::{Rule, RuleKind};
use crate::rule_index::{RuleIndex, is_on_command_line};
use crate::tool_call::ToolCall;
use crate::{line, text_matches};
use serde_json::{Value, json};

/// Compares a call with the rules. Never fails: what is not certain is unchanged.
pub fn correct(call: &ToolCall, rules: &RuleIndex) -> Correction {
    if let Some(denial) = refused_tool(call, rules) {
        return Correction::Denied(denial);
    }
    if let Some((parameter, text)) = call.command() {
        let here = |rule: &&Rule| call.is_in(rule.directory.as_deref());
        let mut found: Vec<&Rule> = rules.on_commands(text).into_iter().filter(here).collect();
        found.extend(rules.on_parameters(call).filter(here).filter(|r| is_on_command_line(r)));
        found.sort_by_key(|rule| rule.number);
        match line::correct(text, &found) {
            line::Outcome::Unchanged => {}
            line::Outcome::Denied(denial) => return Correction::Denied(denial),
            line::Outcome::Rewritten(rewritten) => {
                let after = apply(text, &rewritten.edits);
                let mut input = call.input.clone();
                input[parameter] = Value::String(after.clone());
                if let Some(seconds) = rewritten.timeout {
                    set_timeout(call, &mut input, seconds);
                }
                return Correction::Rewritten(Rewrite {
                    input,
                    parameter: parameter.to_owned(),
                    before: text.to_owned(),
                    after,
                    edits: rewritten.edits,
                    applied: rewritten.applied,
                    vouched: rewritten.vouched,
                });
            }
        }
    }
    correct_parameter(call, rules).map_or(Correction::Unchanged, Correction::Rewritten)
}

fn refused_tool(call: &ToolCall, rules: &RuleIndex) -> Option<Denial> {
    let rule = rules.on_tool(call).find(|rule| call.is_in(rule.directory.as_deref()))?;
    let from = rule.kind.from();
    let reason = match (&rule.kind, &rule.message) {
        (RuleKind::ToolRecipe { script, .. }, message) => {
            let why = message.clone().unwrap_or_else(|| format!("There is no tool {from:?}."));
            format!("{why}\nRun this with the shell tool instead:\n{script}")
        }
        (_, Some(message)) => message.clone(),
        (kind, None) => format!("There is no tool {from:?}. Use {:?} instead.", kind.to()),
    };
    Some(Denial { rules: vec![rule.number], reason })
}

/// The call's timeout is at least what the rule asks for.
fn set_timeout(call: &ToolCall, input: &mut Value, seconds: u64) {
    let Some(parameter) = call.shell.as_ref().and_then(|shell| shell.timeout.as_ref()) else {
        return;
    };
    let wanted = seconds.saturating_mul(parameter.per_second);
    let given = input.get(&parameter.name).and_then(Value::as_u64).unwrap_or(0);
    if let (true, Some(input)) = (given < wanted, input.as_object_mut()) {
        input.insert(parameter.name.clone(), json!(wanted));
    }
}

/// A parameter that is plain text: the first that a rule changes.
fn correct_parameter(call: &ToolCall, rules: &RuleIndex) -> Option<Rewrite> {
    let here = |rule: &&Rule| call.is_in(rule.directory.as_deref()) && !is_shell_line(call, rule);
    let mut found: Vec<&Rule> = rules.on_parameters(call).filter(here).collect();
    found.sort_by_key(|rule| (std::cmp::Reverse(rule.kind.from().len()), rule.number));
    let mut edited: Option<(&str, &str, Vec<Edit>, Vec<Applied>)> = None;
    for rule in found {
        let (RuleKind::ParameterLiteral { tool, parameter, .. }
        | RuleKind::Regex { tool, parameter, .. }) = &rule.kind
        else {
            continue;
        };
        let Some((name, text)) = call.parameter(tool, parameter) else { continue };
        if edited.as_ref().is_some_and(|(other, ..)| *other != name) {
            continue;
        }
        let before = edited.as_ref().map_or(&[][..], |(_, _, edits, _)| edits);
        let free = |edit: &Edit| !before.iter().any(|e| line::overlap(&e.range, &edit.range));
        let new: Vec<Edit> = text_edits(text, rule).into_iter().filter(free).collect();
        if new.is_empty() {
            continue;
        }
        let (.., edits, applied) = edited.get_or_insert((name, text, Vec::new(), Vec::new()));
        edits.extend(new);
        applied.push(line::applied(rule, Vec::new()));
    }
    let (name, text, mut edits, applied) = edited?;
    edits.sort_by_key(|edit| edit.range.start);
    let after = apply(text, &edits);
    let mut input = call.input.clone();
    input[name] = Value::String(after.clone());
    Some(Rewrite {
        input,
        parameter: name.to_owned(),
        before: text.to_owned(),
        after,
        edits,
        applied,
        vouched: false,
    })
}

fn is_shell_line(call: &ToolCall, rule: &Rule) -> bool {
    call.shell.is_some() && is_on_command_line(rule)
}

/// What a rule on a parameter changes in a text.
pub(crate) fn text_edits(text: &str, rule: &Rule) -> Vec<Edit> {
    let edit = |(range, text)| Edit { range, text, rules: vec![rule.number] };
    match &rule.kind {
        RuleKind::ParameterLiteral { from, to, .. } => {
            let found = text_matches::occurrences(text, from, to);
            found.into_iter().map(|range| edit((range, to.clone()))).collect()
        }
        RuleKind::Regex { from, to, .. } => {
            text_matches::matches(text, from, to).into_iter().map(edit).collect()
        }
        _ => Vec::new(),
    }
}

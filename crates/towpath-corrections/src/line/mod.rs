//! Corrects a shell command line: finds what each rule would edit, lets the stronger of two edits
//! win where they overlap, and checks the result.

mod check_edited_line;
mod command_rule;
mod flag_rule;
mod literal_rule;
mod no_code;
mod program_options;
mod refused_commands;
mod unapplied;

pub(crate) use flag_rule::{Flag, is_known_option};
pub use unapplied::{Unapplied, unapplied};

use crate::command_prefix;
use crate::correct_tool_call::text_edits;
use crate::correction::{Applied, Denial, Edit, apply};
use crate::recipe::{self, Replacement};
use crate::rule::{Rule, RuleKind};
use refused_commands::Refused;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use towpath_shell::bash::{self, Script, SimpleCommand};

pub(crate) enum Outcome {
    Unchanged,
    Denied(Denial),
    Rewritten(Rewritten),
}

pub(crate) struct Rewritten {
    pub edits: Vec<Edit>,
    pub applied: Vec<Applied>,
    pub vouched: bool,
    pub timeout: Option<u64>,
}

/// A command that a recipe may replace.
#[derive(Clone, Copy)]
struct RecipeMatch<'a> {
    command: usize,
    rule: &'a Rule,
    /// How many words the rule looks for.
    words: usize,
}

/// Edits that are made together or not at all.
#[derive(Clone)]
struct Candidate {
    edits: Vec<Edit>,
    /// The command whose words are edited. A match on the whole line has none.
    command: Option<usize>,
    /// A smaller one wins.
    order: (u8, Reverse<usize>, u64),
}

pub(crate) fn correct(line: &str, rules: &[&Rule]) -> Outcome {
    if rules.is_empty() {
        return Outcome::Unchanged;
    }
    let Ok(script) = bash::parse(line) else {
        let refused = refused_commands::in_pieces(line, rules);
        return denial(&refused).map_or(Outcome::Unchanged, Outcome::Denied);
    };
    if let Some(denial) = denial(&refused_commands::find(&script, rules)) {
        return Outcome::Denied(denial);
    }
    let defined = defined_functions(&script);
    let mut recipes = Vec::new();
    let mut candidates = Vec::new();
    for (index, command) in script.commands().iter().enumerate() {
        // A function of that name is the agent's own program.
        if command.name().is_none_or(|name| defined.contains(name)) {
            continue;
        }
        recipes.extend(by_longest_prefix(index, command, rules));
        candidates.extend(command_candidates(&script, index, rules));
    }
    candidates.extend(line_candidates(&script, rules));
    rewritten(&script, rules, &recipes, &candidates).map_or(Outcome::Unchanged, Outcome::Rewritten)
}

/// The rewritten line. If all edits together are not certain, those that are by themselves.
fn rewritten(
    script: &Script,
    rules: &[&Rule],
    recipes: &[RecipeMatch],
    candidates: &[Candidate],
) -> Option<Rewritten> {
    if let Some(all) = attempt(script, rules, recipes, candidates) {
        return all;
    }
    if recipes.len() + candidates.len() > MOST_RETRIED {
        return None;
    }
    let good = |result: Option<Option<Rewritten>>| result.flatten().is_some();
    let recipes: Vec<RecipeMatch> = recipes
        .iter()
        .filter(|r| good(attempt(script, rules, std::slice::from_ref(r), &[])))
        .copied()
        .collect();
    let candidates: Vec<Candidate> = candidates
        .iter()
        .filter(|c| good(attempt(script, rules, &[], std::slice::from_ref(c))))
        .cloned()
        .collect();
    attempt(script, rules, &recipes, &candidates).flatten()
}

/// Each is parsed by itself, so that a line of thousands of matches stays cheap.
const MOST_RETRIED: usize = 64;

/// `None` if the result is not certain, `Some(None)` if nothing changes.
fn attempt(
    script: &Script,
    rules: &[&Rule],
    recipes: &[RecipeMatch],
    candidates: &[Candidate],
) -> Option<Option<Rewritten>> {
    let line = script.text();
    let mut chosen = strongest(candidates);
    let mut replaced: Vec<(usize, Replacement)> = Vec::new();
    // The inner ones first: what they write is part of an outer one's arguments.
    for found in recipes.iter().rev() {
        let command = &script.commands()[found.command];
        let inner: Vec<Edit> = chosen
            .iter()
            .filter(|c| c.command.is_some_and(|owner| owner != found.command))
            .flat_map(|c| c.edits.iter().cloned())
            .chain(replaced.iter().map(|(_, r)| r.edit.clone()))
            .collect();
        let Ok(replacement) = recipe::replace(script, command, found.rule, found.words, &inner)
        else {
            continue;
        };
        let range = replacement.edit.range.clone();
        let apart = |edit: &Edit| !overlap(&edit.range, &range);
        chosen.retain(|c| c.edits.iter().all(apart));
        replaced.retain(|(_, r)| apart(&r.edit));
        replaced.push((found.command, replacement));
    }
    let mut edits: Vec<Edit> = chosen.iter().flat_map(|c| c.edits.iter().cloned()).collect();
    edits.extend(replaced.iter().map(|(_, r)| r.edit.clone()));
    edits.retain(|edit| line[edit.range.clone()] != edit.text);
    edits.sort_by_key(|edit| edit.range.start);
    if edits.is_empty() {
        return Some(None);
    }
    check_edited_line::is_certain(script, &edits, &replaced).then_some(())?;
    // A rule that renames a program must not grant what the new one would have to ask for.
    let own = chosen.is_empty()
        && replaced
            .iter()
            .all(|(index, r)| r.own_words && is_words_only(&script.commands()[*index]));
    Some(Some(Rewritten {
        vouched: own && is_joints_only(line, &edits),
        applied: all_applied(rules, &edits, &replaced),
        timeout: replaced.iter().filter_map(|(_, r)| r.timeout).max(),
        edits,
    }))
}

/// The candidates that win over those they overlap with.
fn strongest(candidates: &[Candidate]) -> Vec<Candidate> {
    let mut sorted: Vec<&Candidate> = candidates.iter().collect();
    sorted.sort_by_key(|candidate| candidate.order);
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut taken: std::collections::BTreeMap<usize, usize> = std::collections::BTreeMap::new();
    for candidate in sorted {
        let free = |edit: &Edit| {
            let before = taken.range(..edit.range.end).next_back();
            before.is_none_or(|(_, end)| *end <= edit.range.start)
        };
        if candidate.edits.iter().all(free) {
            taken.extend(candidate.edits.iter().map(|e| (e.range.start, e.range.end)));
            chosen.push(candidate.clone());
        }
    }
    chosen
}

pub(crate) fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// A redirection or an assignment is the agent's, wherever in the command it is written.
fn is_words_only(command: &SimpleCommand) -> bool {
    command.redirects.is_empty() && command.assignments.is_empty()
}

/// Where other commands are inside a command: behind a wrapper, in the code of `bash -c`, in
/// substitutions. No rule on the outer command edits them.
fn inner_commands(script: &Script, command: &SimpleCommand) -> Vec<Range<usize>> {
    let outer = &command.range;
    let inside = |range: &&Range<usize>| {
        outer.start <= range.start && range.end <= outer.end && *range != outer
    };
    script.commands().iter().map(|other| &other.range).filter(inside).cloned().collect()
}

/// Whether only separators are outside of the edits: no word of the agent is left.
fn is_joints_only(line: &str, edits: &[Edit]) -> bool {
    let blank = |text: &str| text.chars().all(|c| c.is_whitespace() || ";&|".contains(c));
    let mut at = 0;
    edits
        .iter()
        .all(|edit| blank(&line[std::mem::replace(&mut at, edit.range.end)..edit.range.start]))
        && blank(&line[edits.last().map_or(0, |e| e.range.end)..])
}

fn by_longest_prefix<'a>(
    index: usize,
    command: &SimpleCommand,
    rules: &[&'a Rule],
) -> Option<RecipeMatch<'a>> {
    let mut best: Option<RecipeMatch> = None;
    for rule in rules.iter().copied() {
        let RuleKind::Recipe { from, .. } = &rule.kind else { continue };
        let Some(words) = command_prefix::static_words(from) else { continue };
        if !command_prefix::begins_with(command, &words) {
            continue;
        }
        if best.is_none_or(|best| words.len() > best.words) {
            best = Some(RecipeMatch { command: index, rule, words: words.len() });
        }
    }
    best
}

/// What the rules on one command edit in it.
fn command_candidates(script: &Script, index: usize, rules: &[&Rule]) -> Vec<Candidate> {
    let command = &script.commands()[index];
    let mut found = Vec::new();
    let mut flags = Vec::new();
    for rule in rules.iter().copied() {
        let Some(words) = rule.kind.command().and_then(command_prefix::static_words) else {
            continue;
        };
        if !command_prefix::begins_with(command, &words) {
            continue;
        }
        let from = Reverse(rule.kind.from().len());
        match &rule.kind {
            RuleKind::Command { to, .. } => {
                if let Some(edits) = command_rule::edits(script, command, rule.number, &words, to) {
                    let order = (1, from, rule.number);
                    found.push(Candidate { edits, command: Some(index), order });
                }
            }
            RuleKind::Literal { from: text, to, .. } => {
                let edits = literal_rule::edits(script, command, rule.number, text, to);
                found.extend(edits.into_iter().map(|edit| Candidate {
                    edits: vec![edit],
                    command: Some(index),
                    order: (0, from, rule.number),
                }));
            }
            RuleKind::Flag { .. } => flags.push((rule, words.len())),
            _ => {}
        }
    }
    let edits = flag_rule::edits(script, command, &flags);
    found.extend(edits.into_iter().map(|edit| Candidate {
        order: (1, Reverse(0), edit.rules.first().copied().unwrap_or(0)),
        edits: vec![edit],
        command: Some(index),
    }));
    found
}

/// What the rules on the whole line edit: where a match begins in code.
fn line_candidates(script: &Script, rules: &[&Rule]) -> Vec<Candidate> {
    let line = script.text();
    let mut data = None;
    let mut found = Vec::new();
    for rule in rules {
        for edit in text_edits(line, rule) {
            let data = data.get_or_insert_with(|| no_code::find(script));
            if !no_code::is_data(data, edit.range.start) {
                let order = (0, Reverse(rule.kind.from().len()), rule.number);
                found.push(Candidate { edits: vec![edit], command: None, order });
            }
        }
    }
    found
}

/// The reason names each command: a line may have others, which are not the problem. `None` if no
/// command is refused.
fn denial(refusals: &[Refused]) -> Option<Denial> {
    let rules: BTreeSet<u64> = refusals.iter().map(|(rule, _)| rule.number).collect();
    let mut reasons: Vec<String> = Vec::new();
    for (rule, command) in refusals {
        let refused = shortened(command);
        let reason = match &rule.message {
            Some(message) => format!("`{refused}` is refused: {message}"),
            None => format!("`{refused}` is refused by a correction rule."),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let rules: Vec<u64> = rules.into_iter().collect();
    (!rules.is_empty()).then(|| Denial { rules, reason: reasons.join("\n") })
}

/// Of a longer command the beginning names it.
const MOST_NAMED: usize = 100;

fn shortened(command: &str) -> String {
    match command.char_indices().nth(MOST_NAMED) {
        Some((end, _)) => format!("{}…", &command[..end]),
        None => command.to_owned(),
    }
}

pub(crate) fn applied(rule: &Rule, dropped: Vec<String>) -> Applied {
    Applied {
        rule: rule.number,
        description: rule.description(),
        message: rule.message.clone(),
        dropped,
    }
}

fn all_applied(rules: &[&Rule], edits: &[Edit], replaced: &[(usize, Replacement)]) -> Vec<Applied> {
    let mut all: Vec<Applied> = Vec::new();
    for number in edits.iter().flat_map(|edit| &edit.rules) {
        if all.iter().any(|a| a.rule == *number) {
            continue;
        }
        let Some(rule) = rules.iter().find(|rule| rule.number == *number) else { continue };
        let own = replaced.iter().filter(|(_, r)| r.edit.rules.first() == Some(number));
        all.push(applied(rule, own.flat_map(|(_, r)| r.dropped.iter().cloned()).collect()));
    }
    all
}

fn defined_functions(script: &Script) -> BTreeSet<String> {
    struct Names(BTreeSet<String>);
    impl bash::visit::Visitor for Names {
        fn statement(&mut self, statement: &bash::tree::Statement) {
            if let bash::tree::Command::Function { names, .. } = &statement.command {
                self.0.extend(names.iter().filter_map(|name| name.text.clone()));
            }
        }
    }
    let mut names = Names(BTreeSet::new());
    bash::visit::block(script.body(), &mut names);
    names.0
}

/// The edited line as a script.
fn reparsed(script: &Script, edits: &[Edit]) -> Option<Script> {
    bash::parse(&apply(script.text(), edits)).ok()
}

//! A command that becomes a script. The agent's words that the script takes must expand exactly as
//! they would have: where that is not certain, the rule does nothing.

mod agent_word;
mod fill_template;
pub(crate) mod grouping;
mod not_replaced;
mod script_variables;
pub(crate) mod template;
mod value_position;

use crate::correction::Edit;
use crate::rule::{Rule, RuleKind};
use crate::same_outside_edits::is_requoted;
use crate::{command_prefix, escape_for_nesting};
use agent_word::AgentWord;
use fill_template::Filler;
use grouping::{Group, Shape};
use std::ops::Range;
use template::{Piece, Template, Value};
use towpath_shell::bash::tree::Redirect;
use towpath_shell::bash::{self, Nesting, Script, SimpleCommand};

pub(crate) use fill_template::marked;
pub(crate) use not_replaced::Obstacle;

/// What is written for one command.
pub(crate) struct Replacement {
    pub edit: Edit,
    /// The recipe with its values, without the group around it.
    pub script: String,
    pub group: Group,
    /// Nothing of the agent's is in it.
    pub own_words: bool,
    /// The agent's words that it does not have.
    pub dropped: Vec<String>,
    pub timeout: Option<u64>,
}

/// Options that must not get lost: the agent asked for no effect, or for help only.
const NEVER_DROPPED: &[&str] = &["--help", "-h", "--version", "--dry-run", "-n"];

/// What the rule writes for the command, whose first `matched` words it looks for. `inner` are edits
/// of commands inside of its words.
pub(crate) fn replace(
    line: &Script,
    command: &SimpleCommand,
    rule: &Rule,
    matched: usize,
    inner: &[Edit],
) -> Result<Replacement, Obstacle> {
    let RuleKind::Recipe { from, to, template, timeout } = &rule.kind else {
        return Err(Obstacle::NoCommand);
    };
    let template = match template {
        true => Template::parse(to).map_err(|_| Obstacle::Template)?,
        false => Template::plain(to),
    };
    let arguments = &command.words[matched..];
    let words: Option<Vec<AgentWord>> =
        arguments.iter().map(|word| AgentWord::new(word, line.text(), inner)).collect();
    let words = words.ok_or(Obstacle::PartOfAnArgument)?;
    let decided = template.decide(&mut |value| is_true(value, &words));
    let pieces = trimmed(decided.ok_or(Obstacle::UnknownArguments)?);
    if is_corrected(command, from, &pieces) {
        return Err(Obstacle::Corrected);
    }
    let uses = Uses::of(&pieces, &words);
    let dropped = dropped(&words, &uses, line.text())?;
    let filler = Filler {
        pieces: &pieces,
        words: &words,
        matched: from,
        raw: raw_text(line.text(), command),
        full: line.text(),
        requoted: is_requoted(command),
    };
    let script = filler.fill()?;
    let parsed = bash::parse(&script).ok().filter(|s| !s.body().statements.is_empty());
    let parsed = parsed.ok_or(Obstacle::NoCommand)?;
    let shape = Shape::new(&parsed);
    let group = grouping::choose(line, command, &shape).ok_or(Obstacle::NotOneCommand)?;
    if takes_more_words(command) && !ends_with_args(&pieces) {
        return Err(Obstacle::MoreWords);
    }
    if leaks(line, command, &parsed, group) {
        return Err(Obstacle::Leaks);
    }
    let written = grouping::written(&script, &shape, group);
    let (range, mut text) = with_redirects(line.text(), command, &written, group, &shape)
        .ok_or(Obstacle::Redirection)?;
    // `$((` and `((` begin a calculation.
    if text.starts_with('(') && line.text()[..range.start].ends_with('(') {
        text.insert(0, ' ');
    }
    let text = escape_for_nesting::for_command(line, command, &text).ok_or(Obstacle::Quotes)?;
    Ok(Replacement {
        edit: Edit { range, text, rules: rules_of(rule, &words, inner) },
        script,
        group,
        own_words: uses.is_own,
        dropped,
        timeout: *timeout,
    })
}

/// The rule, and those that edited the agent's words which it takes.
fn rules_of(rule: &Rule, words: &[AgentWord], inner: &[Edit]) -> Vec<u64> {
    let inside =
        |edit: &&Edit| words.iter().any(|w| crate::line::overlap(&w.word.range, &edit.range));
    let mut rules = vec![rule.number];
    rules.extend(inner.iter().filter(inside).flat_map(|edit| edit.rules.iter().copied()));
    rules
}

/// Without what would be in the way of what follows: blanks and a `;` at the end.
fn trimmed(mut pieces: Vec<Piece>) -> Vec<Piece> {
    if let Some(Piece::Text(text)) = pieces.first_mut() {
        *text = text.trim_start().to_owned();
    }
    if let Some(Piece::Text(text)) = pieces.last_mut() {
        let end = text.trim_end();
        let escaped = end.ends_with('\\') && end.len() < text.len();
        if !escaped {
            *text = end.to_owned();
        }
        if text.ends_with(';') && !text.ends_with(";;") && !text.ends_with("\\;") {
            let last = text.rsplit('\n').next().unwrap_or_default();
            if !last.contains('#') {
                text.pop();
            }
        }
    }
    pieces
}

/// Whether a condition of the template is true. `None` if only bash knows.
fn is_true(value: Value, words: &[AgentWord]) -> Option<bool> {
    match value {
        Value::Full | Value::Matched | Value::Raw => Some(true),
        Value::Args if words.is_empty() => Some(false),
        Value::Args => words.iter().any(|word| word.certain).then_some(true),
        Value::Arg(number) => {
            let Some(at) = number.checked_sub(1) else { return Some(false) };
            if !words.iter().take(number).all(|word| word.certain) {
                return None;
            }
            Some(words.get(at).is_some_and(|word| word.word.fixed() != Some("")))
        }
    }
}

/// `bd list` → `bd list --flat …` has nothing to add to `bd list --flat`.
fn is_corrected(command: &SimpleCommand, from: &str, pieces: &[Piece]) -> bool {
    let Some(Piece::Text(text)) = pieces.first() else { return false };
    let (Some(from), Ok(script)) = (command_prefix::static_words(from), bash::parse(text)) else {
        return false;
    };
    let Some(first) = script.commands().first() else { return false };
    let leading: Vec<String> =
        first.words.iter().map_while(|word| word.fixed().map(str::to_owned)).collect();
    leading.len() > from.len()
        && leading.starts_with(&from)
        && command_prefix::begins_with(command, &leading)
}

/// Which of the agent's words a template takes.
struct Uses {
    /// How often, for each of them.
    counts: Vec<usize>,
    /// All of them are in the script as text.
    as_text: bool,
    /// Nothing of the agent's is written.
    is_own: bool,
}

impl Uses {
    fn of(pieces: &[Piece], words: &[AgentWord]) -> Uses {
        let mut uses = Uses { counts: vec![0; words.len()], as_text: false, is_own: true };
        for piece in pieces {
            match piece {
                Piece::Value(Value::Args) => uses.counts.iter_mut().for_each(|count| *count += 1),
                Piece::Value(Value::Arg(number)) => {
                    let at = number.checked_sub(1);
                    if let Some(count) = at.and_then(|at| uses.counts.get_mut(at)) {
                        *count += 1;
                    }
                }
                Piece::Value(Value::Raw | Value::Full) => uses.as_text = true,
                Piece::Value(Value::Matched) | Piece::Text(_) => {}
            }
        }
        uses.is_own = !uses.as_text && uses.counts.iter().all(|count| *count == 0);
        uses
    }
}

/// The words that get lost. An error if one of them must not, or if one that does something is not
/// used exactly once.
fn dropped(words: &[AgentWord], uses: &Uses, line: &str) -> Result<Vec<String>, Obstacle> {
    let mut lost = Vec::new();
    let mut operands = false;
    for (word, count) in words.iter().zip(&uses.counts) {
        let source = || line[word.word.range.clone()].to_owned();
        if word.has_effects && *count != 1 {
            return Err(Obstacle::Effects { word: source() });
        }
        operands |= word.word.fixed() == Some("--");
        if *count == 0 {
            let never = word.word.fixed().is_some_and(|text| NEVER_DROPPED.contains(&text));
            if never && !operands {
                return Err(Obstacle::Careful { option: source() });
            }
            if !uses.as_text {
                lost.push(source());
            }
        }
    }
    Ok(lost)
}

/// `xargs` adds words at the end of the command.
fn takes_more_words(command: &SimpleCommand) -> bool {
    command.nesting.iter().any(|nesting| matches!(nesting, Nesting::Wrapper("xargs")))
}

fn ends_with_args(pieces: &[Piece]) -> bool {
    let mut last =
        pieces.iter().rev().filter(|p| !matches!(p, Piece::Text(t) if t.trim().is_empty()));
    matches!(last.next(), Some(Piece::Value(Value::Args)))
}

/// Whether the recipe sets something that the rest of the line reads.
fn leaks(line: &Script, command: &SimpleCommand, recipe: &Script, group: Group) -> bool {
    if group == Group::Subshell {
        return false;
    }
    let changes = script_variables::changes_of(recipe);
    let outside = script_variables::names_outside(line, &command.range);
    let called = |c: &SimpleCommand| c.name().is_some_and(|n| changes.functions.contains(n));
    let sets = changes.variables.iter().any(|name| outside.0.contains(name));
    let splits = changes.variables.contains("IFS") && !outside.0.is_empty();
    sets || splits || changes.any && !outside.0.is_empty() || line.commands().iter().any(called)
}

/// The command's words as they are written.
pub(crate) fn raw_text(line: &str, command: &SimpleCommand) -> String {
    let words = words_range(command);
    let divided = |r: &Redirect| crate::line::overlap(&r.range, &words);
    if command.redirects.iter().any(divided) {
        let sources: Vec<&str> = command.words.iter().map(|w| &line[w.range.clone()]).collect();
        return sources.join(" ");
    }
    line[words].to_owned()
}

fn words_range(command: &SimpleCommand) -> Range<usize> {
    let start = command.words.first().map_or(command.range.start, |word| word.range.start);
    start..command.words.last().map_or(start, |word| word.range.end)
}

/// What is replaced and by what. Redirections stay where they are, but for those that a group or a
/// compound command cannot have in front or that are among the words: they are written behind it.
fn with_redirects(
    line: &str,
    command: &SimpleCommand,
    written: &str,
    group: Group,
    shape: &Shape,
) -> Option<(Range<usize>, String)> {
    let words = words_range(command);
    let simple = group == Group::None && shape.is_simple();
    let moves =
        |r: &&Redirect| r.range.start < words.end && (!simple || words.start < r.range.start);
    let moved: Vec<&Redirect> = command.redirects.iter().filter(moves).collect();
    let start = moved.iter().map(|r| r.range.start).chain([words.start]).min()?;
    // What is between must be nothing but words and redirections that are written again.
    if moved.iter().any(|r| r.range.end > words.end) {
        return None;
    }
    let mut text = written.to_owned();
    for redirect in &moved {
        text.push(' ');
        text.push_str(&line[redirect.range.clone()]);
    }
    Some((start..words.end, text))
}

/// The template with all of its conditions true, and with all of them false.
pub(crate) fn variants(template: &Template) -> Vec<Vec<Piece>> {
    [true, false].into_iter().filter_map(|is| template.decide(&mut |_| Some(is))).collect()
}

/// Whether every value of a template is where it can be written. An error is why it is no bash.
pub(crate) fn has_certain_positions(pieces: &[Piece]) -> Result<bool, String> {
    let text: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Value(_) => "x",
        })
        .collect();
    let script = bash::parse(&text).map_err(|error| error.to_string())?;
    if script.body().statements.is_empty() && !pieces.iter().any(|p| matches!(p, Piece::Value(_))) {
        return Err("it has no command".to_owned());
    }
    Ok(marked(pieces)
        .is_some_and(|(script, marks)| value_position::find(&script, &marks).is_some()))
}

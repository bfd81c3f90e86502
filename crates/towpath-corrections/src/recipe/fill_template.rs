//! Writes the values of a template, each for its position, and checks that the script is otherwise
//! the same.

use super::agent_word::{self, AgentWord, Stretch};
use super::script_variables::{Changes, changes_of, reads_positional};
use super::template::{Piece, Value};
use super::value_position::{self, Position, Quoting, Role};
use super::{Obstacle, Shape, command_prefix};
use crate::correction::{Edit, apply};
use crate::escape_for_nesting::escaped;
use crate::same_outside_edits;
use std::collections::BTreeSet;
use std::ops::Range;
use towpath_shell::bash::{self, Nesting, Script};

pub(super) struct Filler<'a> {
    pub pieces: &'a [Piece],
    /// The agent's words behind the matched ones.
    pub words: &'a [AgentWord<'a>],
    pub matched: &'a str,
    pub raw: String,
    pub full: &'a str,
    /// The command is in quotes that bash removes first: only plain words are the same there.
    pub requoted: bool,
}

/// A script with a mark in the position of each value. `None` if it is no bash.
pub(crate) fn marked(pieces: &[Piece]) -> Option<(Script, Vec<usize>)> {
    let text_of = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Value(_) => String::new(),
    };
    let all: String = pieces.iter().map(text_of).collect();
    // A letter would join `$HOME{{.Arg 1}}` into another name.
    let mark = ('\u{e000}'..='\u{e0ff}').find(|c| !all.contains(*c))?;
    let mut text = String::new();
    let mut marks = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Value(_) => {
                marks.push(text.len());
                text.push(mark);
            }
        }
    }
    Some((bash::parse(&text).ok()?, marks))
}

impl Filler<'_> {
    pub fn fill(&self) -> Result<String, Obstacle> {
        let values: Vec<Value> = self
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Value(value) => Some(*value),
                Piece::Text(_) => None,
            })
            .collect();
        let (script, marks) = marked(self.pieces).ok_or(Obstacle::NoCommand)?;
        if values.is_empty() {
            return Ok(script.text().to_owned());
        }
        let positions = value_position::find(&script, &marks).ok_or(Obstacle::Position)?;
        let changes = changes_of(&script);
        let single = Shape::new(&script).is_simple();
        let mut edits: Vec<Edit> = Vec::new();
        for ((value, mark), position) in values.iter().zip(&marks).zip(&positions) {
            let used = self.used(*value);
            let differs =
                |word: &&&AgentWord| !self.expands_alike(*value, word, position, &changes, single);
            if let Some(other) = used.iter().find(differs) {
                return Err(Obstacle::Expansion { word: other.as_written().to_owned() });
            }
            let length = script.text()[*mark..].chars().next().map_or(0, char::len_utf8);
            let mut range = *mark..*mark + length;
            let next = script.text()[range.end..].chars().next();
            let text = self.written(*value, &used, position, next).ok_or(Obstacle::Position)?;
            // No word at all: the blanks before it would be at the end of the command.
            if text.is_empty()
                && matches!(position.quoting, Quoting::Bare(Role::Argument | Role::Element))
            {
                range.start = script.text()[..range.start].trim_end_matches([' ', '\t']).len();
            }
            push(&mut edits, script.text(), range, text, &position.quoting);
        }
        let filled = apply(script.text(), &edits);
        let same = self.is_same(&script, &filled, &edits, &values);
        same.then_some(filled).ok_or(Obstacle::Position)
    }

    /// The agent's words that a value is.
    fn used(&self, value: Value) -> Vec<&AgentWord<'_>> {
        match value {
            Value::Args => self.words.iter().collect(),
            Value::Arg(number) => {
                let at = number.checked_sub(1);
                at.and_then(|at| self.words.get(at)).into_iter().collect()
            }
            Value::Full | Value::Matched | Value::Raw => Vec::new(),
        }
    }

    fn expands_alike(
        &self,
        value: Value,
        word: &AgentWord,
        position: &Position,
        changes: &Changes,
        single: bool,
    ) -> bool {
        let listed =
            matches!(position.quoting, Quoting::Bare(Role::Argument | Role::Element | Role::Name));
        let certain = match value {
            Value::Args if listed => true,
            Value::Arg(number) => self.words.iter().take(number).all(|w| w.certain),
            _ => word.certain,
        };
        let moved = changes.directory || changes.options || changes.variables.contains("IFS");
        let in_function = position.nesting.contains(&Nesting::Function);
        certain
            && (word.certain || !moved)
            && !changes.touch(&word.names, single)
            && !(in_function && reads_positional(&word.names))
            && !(word.has_effects && position.conditional)
            && (!self.requoted && !position.code || word.plain().is_some())
    }

    fn written(
        &self,
        value: Value,
        used: &[&AgentWord],
        position: &Position,
        next: Option<char>,
    ) -> Option<String> {
        let text = match value {
            Value::Full => Some(self.full),
            Value::Matched => Some(self.matched),
            Value::Raw => Some(self.raw.as_str()),
            Value::Args | Value::Arg(_) => None,
        };
        if let Some(text) = text {
            let plain =
                command_prefix::static_words(text).is_some_and(|words| words.join(" ") == text);
            if (self.requoted || position.code) && !plain {
                return None;
            }
            if let Quoting::Bare(role) = position.quoting {
                return (role != Role::Name).then(|| bash::quote(text));
            }
            return quoted(&[Stretch::Text(text.to_owned())], &position.quoting, next);
        }
        if let Quoting::Bare(role) = &position.quoting {
            return bare(used, *role);
        }
        let mut stretches = Vec::new();
        for (index, word) in used.iter().enumerate() {
            if index > 0 {
                stretches.push(Stretch::Text(" ".to_owned()));
            }
            stretches.extend(word.value()?);
        }
        quoted(&stretches, &position.quoting, next)
    }

    /// The filled script is the marked one but for the values, and what is live in those is what was
    /// live in the agent's words.
    fn is_same(&self, script: &Script, filled: &str, edits: &[Edit], values: &[Value]) -> bool {
        let Ok(after) = bash::parse(filled) else { return false };
        let moves = same_outside_edits::Moves::new(edits);
        let listed = values.iter().flat_map(|value| self.used(*value)).count();
        // Words that are joined to others must not become a pattern or braces with them.
        let several = |script: &Script| uncertain_words(script).len();
        let uncertain =
            values.iter().flat_map(|v| self.used(*v)).filter(|w| !w.word.one_word).count();
        let inside: Vec<Range<usize>> = (0..edits.len()).map(|at| moves.new_range(at)).collect();
        same_outside_edits::is_same_outside(script, &after, edits, &[])
            && several(&after) <= several(script) + uncertain + nested_uncertain(&after, &inside)
            && (listed > 0 || after.commands().len() == script.commands().len())
    }
}

/// The words that bash may make several of, or none.
fn uncertain_words(script: &Script) -> BTreeSet<(usize, usize)> {
    let words = script.commands().iter().flat_map(|c| &c.words);
    words.filter(|w| !w.one_word).map(|w| (w.range.start, w.range.end)).collect()
}

/// Such words inside of substitutions of the agent's words, which are the agent's own business.
fn nested_uncertain(after: &Script, inside: &[Range<usize>]) -> usize {
    let within =
        |(start, end): &(usize, usize)| inside.iter().any(|i| i.start < *start && *end < i.end);
    uncertain_words(after).iter().filter(|range| within(range)).count()
}

/// All of `'…'` is one edit: a quote in a value closes and opens it.
fn push(edits: &mut Vec<Edit>, script: &str, range: Range<usize>, text: String, quoting: &Quoting) {
    let Quoting::Single(whole) = quoting else {
        edits.push(Edit { range, text, rules: Vec::new() });
        return;
    };
    match edits.last_mut().filter(|last| last.range == *whole) {
        // The text behind the last mark is unchanged, and is as long as it was.
        Some(last) => {
            let behind = whole.end - range.start;
            let at = last.text.len() - behind;
            let end = at + range.len();
            last.text.replace_range(at..end, &text);
        }
        None => {
            let (front, back) = (&script[whole.start..range.start], &script[range.end..whole.end]);
            let text = format!("{front}{text}{back}");
            edits.push(Edit { range: whole.clone(), text, rules: Vec::new() });
        }
    }
}

/// The agent's words as they are written, outside of quotes.
fn bare(used: &[&AgentWord], role: Role) -> Option<String> {
    let mut sources = used.iter().map(|word| word.source()).collect::<Option<Vec<String>>>()?;
    if matches!(role, Role::Element | Role::Joined) {
        sources.iter_mut().for_each(no_subscript);
    }
    let source = sources.join(" ");
    match (role, used) {
        (Role::Argument | Role::Element, _) => Some(source),
        (Role::Name, [first, ..]) => {
            let name = first.plain().filter(|name| !name.contains('=') && !RESERVED.contains(name));
            name.map(|_| source)
        }
        (Role::Name, []) => None,
        (_, []) => Some(source),
        // In a value a tilde also counts behind a colon.
        (Role::Value, [word]) => (!word.tilde || !source.contains(':')).then_some(source),
        (Role::Joined, [word]) => (!word.tilde).then_some(source),
        (Role::Operand, [word]) => match word.word.fixed() {
            Some(value) => Some(format!("'{}'", value.replace('\'', r"'\''"))),
            None => source.starts_with('"').then_some(source),
        },
        _ => None,
    }
}

/// Bash reads `[0]=x` in an array as an assignment. Behind empty quotes it is a word like any other,
/// and a pattern is still one.
fn no_subscript(source: &mut String) {
    if source.starts_with('[') {
        source.insert_str(0, "\"\"");
    }
}

/// Words that mean something else where a command's name is.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "time", "for", "in", "until", "while", "do", "done",
    "case", "esac", "coproc", "select", "function",
];

fn quoted(stretches: &[Stretch], quoting: &Quoting, next: Option<char>) -> Option<String> {
    let live = stretches.iter().any(|s| matches!(s, Stretch::Live(_)));
    let text = || agent_word::as_text(stretches);
    match quoting {
        Quoting::Double => Some(agent_word::with_live(stretches, "\\\"$`", next)),
        Quoting::Single(_) => text().map(|text| text.replace('\'', r"'\''")),
        Quoting::Ansi => text().map(|text| escaped(&text, "\\'")),
        Quoting::HereDocument { quoted } => {
            let lines = stretches.iter().any(|s| match s {
                Stretch::Text(text) | Stretch::Live(text) => text.contains('\n'),
            });
            // A line of it could end the document, and quotes inside of `${…}` mean another thing.
            let braces = |s: &Stretch| matches!(s, Stretch::Live(source) if source.contains('"'));
            if lines || stretches.iter().any(braces) || *quoted && live {
                return None;
            }
            match quoted {
                true => text(),
                false => Some(agent_word::with_live(stretches, "\\$`", next)),
            }
        }
        Quoting::Arithmetic => {
            text().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
        }
        Quoting::Bare(_) => None,
    }
}

//! A word of the agent: what it reads and does when bash expands it, and how it is written in another
//! position so that it still expands to the same.

use super::script_variables::{Names, names_of};
use crate::command_prefix;
use crate::correction::{Edit, apply};
use crate::escape_for_nesting::escaped;
use std::ops::Range;
use towpath_shell::bash;
use towpath_shell::bash::tree::{Operation, Part, Word};
use towpath_shell::bash::visit::{self, Visitor};

pub(crate) struct AgentWord<'a> {
    pub word: &'a Word,
    line: &'a str,
    /// Edits of other commands inside of the word.
    edits: Vec<Edit>,
    pub names: Names,
    /// Bash runs something or sets something to expand it.
    pub has_effects: bool,
    /// It begins with a tilde that bash expands.
    pub tilde: bool,
    /// Bash makes exactly one word of it.
    pub certain: bool,
}

/// A stretch of a word's value.
pub(crate) enum Stretch {
    Text(String),
    /// An expansion inside of double quotes, as it is written.
    Live(String),
}

impl<'a> AgentWord<'a> {
    /// `None` if an edit covers a part of the word only.
    pub fn new(word: &'a Word, line: &'a str, edits: &[Edit]) -> Option<AgentWord<'a>> {
        let touching: Vec<Edit> =
            edits.iter().filter(|e| crate::line::overlap(&e.range, &word.range)).cloned().collect();
        let inside = |e: &Edit| word.range.start <= e.range.start && e.range.end <= word.range.end;
        if !touching.iter().all(inside) {
            return None;
        }
        let source = &line[word.range.clone()];
        let tilde = source.starts_with('~') && !word.one_word;
        let certain = word.one_word || tilde && is_one_without_tilde(source);
        let mut effects = Effects { line, found: false };
        visit::parts(&word.parts, &mut effects);
        let names = names_of(line, &word.parts, tilde);
        Some(AgentWord {
            word,
            line,
            edits: touching,
            names,
            has_effects: effects.found,
            tilde,
            certain,
        })
    }

    /// The agent's own text.
    pub fn as_written(&self) -> &'a str {
        &self.line[self.word.range.clone()]
    }

    /// The word as it is written, with the edits of the commands inside of it.
    pub fn source(&self) -> Option<String> {
        self.written(&self.word.range)
    }

    fn written(&self, range: &Range<usize>) -> Option<String> {
        let mut edits: Vec<Edit> = Vec::new();
        for edit in self.edits.iter().filter(|e| crate::line::overlap(&e.range, range)) {
            let start = edit.range.start.checked_sub(range.start)?;
            let end = edit.range.end - range.start;
            if end > range.len() {
                return None;
            }
            edits.push(Edit { range: start..end, ..edit.clone() });
        }
        edits.sort_by_key(|e| e.range.start);
        Some(apply(&self.line[range.clone()], &edits))
    }

    /// Only characters that mean themselves, wherever they are written.
    pub fn plain(&self) -> Option<&str> {
        let source = &self.line[self.word.range.clone()];
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./:@%+,=".contains(&b);
        let same = self.word.fixed() == Some(source) && self.edits.is_empty();
        (same && source.bytes().all(plain)).then_some(source)
    }

    /// The value in stretches. `None` if it cannot be written inside of quotes.
    pub fn value(&self) -> Option<Vec<Stretch>> {
        if self.tilde || !self.certain {
            return None;
        }
        if let Some(value) = self.word.fixed().filter(|_| self.edits.is_empty()) {
            return Some(vec![Stretch::Text(value.to_owned())]);
        }
        let mut found = Vec::new();
        for part in &self.word.parts {
            match part {
                Part::Literal(range) | Part::Single(range) | Part::Ansi(range) => {
                    found.push(Stretch::Text(self.fixed_text(&self.line[range.clone()])?));
                }
                Part::Double { range, parts } => self.double(range, parts, &mut found)?,
                _ => return None,
            }
        }
        Some(found)
    }

    fn fixed_text(&self, source: &str) -> Option<String> {
        let mut words = command_prefix::static_words(&format!("x{source}"))?;
        let word = words.pop().filter(|_| words.is_empty())?;
        word.strip_prefix('x').map(str::to_owned)
    }

    fn double(&self, range: &Range<usize>, parts: &[Part], found: &mut Vec<Stretch>) -> Option<()> {
        let open = self.line[range.clone()].find('"')? + 1;
        let mut at = range.start + open;
        let text = |from: usize, to: usize, found: &mut Vec<Stretch>| {
            let source = &self.line[from..to];
            if !source.is_empty() {
                found.push(Stretch::Text(self.fixed_text(&format!("\"{source}\""))?));
            }
            Some(())
        };
        for part in parts {
            let live = match part {
                Part::Variable { range, .. } | Part::Substitution { range, .. } => range,
                Part::Parameter(parameter) => &parameter.range,
                Part::Arithmetic(arithmetic) => &arithmetic.range,
                Part::Unclear(_) => return None,
                _ => continue,
            };
            text(at, live.start, found)?;
            found.push(Stretch::Live(self.written(live)?));
            at = live.end;
        }
        text(at, range.end - 1, found)
    }
}

/// The stretches for text in double quotes or in a here-document, with `special` escaped. A variable
/// gets braces where a letter follows it.
pub(crate) fn with_live(stretches: &[Stretch], special: &str, next: Option<char>) -> String {
    let mut written = String::new();
    for (index, stretch) in stretches.iter().enumerate() {
        match stretch {
            Stretch::Text(text) => written.push_str(&escaped(text, special)),
            Stretch::Live(source) => {
                let following = match stretches.get(index + 1) {
                    Some(Stretch::Text(text)) => text.chars().next(),
                    Some(Stretch::Live(_)) => None,
                    None => next,
                };
                let joins =
                    following.is_some_and(|c| c.is_ascii_alphanumeric() || "_[".contains(c));
                let name = source
                    .strip_prefix('$')
                    .filter(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
                match name.filter(|_| joins) {
                    Some(name) => written.push_str(&format!("${{{name}}}")),
                    None => written.push_str(source),
                }
            }
        }
    }
    written
}

/// The value as plain text, if nothing in it is live.
pub(crate) fn as_text(stretches: &[Stretch]) -> Option<String> {
    stretches
        .iter()
        .map(|stretch| match stretch {
            Stretch::Text(text) => Some(text.as_str()),
            Stretch::Live(_) => None,
        })
        .collect()
}

fn is_one_without_tilde(source: &str) -> bool {
    let text = format!(": x{}", &source[1..]);
    bash::parse(&text)
        .ok()
        .and_then(|script| script.commands().first()?.words.get(1).map(|word| word.one_word))
        .unwrap_or(false)
}

struct Effects<'a> {
    line: &'a str,
    found: bool,
}

impl Visitor for Effects<'_> {
    fn part(&mut self, part: &Part) {
        self.found |= match part {
            Part::Substitution { .. } | Part::Unclear(_) => true,
            Part::Parameter(parameter) => {
                let rest = &self.line[parameter.target.range.end..parameter.range.end];
                let rest = rest.trim_start_matches(':');
                matches!(parameter.operation, Operation::Value(_)) && rest.starts_with(['=', '?'])
            }
            Part::Arithmetic(arithmetic) => {
                let text = &self.line[arithmetic.range.clone()];
                text.contains('=') || text.contains("++") || text.contains("--")
            }
            _ => false,
        };
    }
}

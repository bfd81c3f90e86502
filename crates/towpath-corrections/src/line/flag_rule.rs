//! One option of a command becomes another one, or is dropped.
//!
//! A letter may be one of a cluster (`-rP`). Which letters take a value is in a table or in the rule:
//! after one of them, the rest of the cluster or the next word is data. So is the next word after a
//! long option that takes a value.

use super::program_options::{self, Cluster, Program};
use crate::correction::Edit;
use crate::escape_for_nesting;
use crate::rule::{Rule, RuleKind};
use std::ops::Range;
use towpath_shell::bash::tree::{Part, Redirect, Word};
use towpath_shell::bash::{self, Script, SimpleCommand};

/// An option as a rule names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flag {
    Short(char),
    /// Dashes included: `--all`, or `-run` for programs that write long options so.
    Long(String),
}

impl Flag {
    /// `r` and `-r` are a letter; `all` and `--all` are long. `None` if it is no option.
    pub(crate) fn parse(text: &str) -> Option<Flag> {
        let name = text.trim_start_matches('-');
        let dashes = text.len() - name.len();
        let mut letters = name.chars();
        let (first, only) = (letters.next()?, letters.next().is_none());
        match dashes {
            0 | 1 if only => first.is_ascii_alphanumeric().then_some(Flag::Short(first)),
            1 => Some(Flag::Long(text.to_owned())),
            0 | 2 => Some(Flag::Long(format!("--{name}"))),
            _ => None,
        }
        .filter(|_| !name.contains(char::is_whitespace))
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Flag::Short(letter) => format!("-{letter}"),
            Flag::Long(name) => name.clone(),
        }
    }
}

/// The value of a word that is an option, or of what is before its first expansion.
pub(super) fn option(script: &Script, word: &Word) -> Option<String> {
    let value = match (word.fixed(), word.parts.first()) {
        (Some(value), _) => value.to_owned(),
        (None, Some(Part::Literal(range))) => script.text()[range.clone()].to_owned(),
        _ => return None,
    };
    (value.len() > 1 && value.starts_with('-')).then_some(value)
}

/// Whether it is known if an option takes a value: `rg -r` does, and agents type it without.
pub(crate) fn is_known_option(program: &str, subcommand: &str, option: &str) -> bool {
    match Flag::parse(option) {
        Some(Flag::Short(letter)) => {
            let table = program_options::program(program, subcommand);
            table.known && (program, letter) != ("rg", 'r')
        }
        Some(Flag::Long(_)) => program_options::is_known(program),
        None => false,
    }
}

struct Change {
    rule: u64,
    /// The rule is about words from this one on.
    first: usize,
    from: Flag,
    /// `None` drops the option.
    to: Option<Flag>,
}

/// The edits of all flag rules of one command; each comes with the number of words that it looks for.
pub(super) fn edits(
    script: &Script,
    command: &SimpleCommand,
    rules: &[(&Rule, usize)],
) -> Vec<Edit> {
    let mut letters = String::new();
    let mut changes = Vec::new();
    for (rule, words) in rules {
        let RuleKind::Flag { from, to, valued, .. } = &rule.kind else { continue };
        letters.push_str(valued);
        let to_flag = Flag::parse(to);
        let Some(from) = Flag::parse(from) else { continue };
        if to.is_empty() || to_flag.is_some() {
            changes.push(Change { rule: rule.number, first: *words, from, to: to_flag });
        }
    }
    if changes.is_empty() {
        return Vec::new();
    }
    let mut program = program_options::program_of(command);
    program.add_valued(&letters);
    Reader { script, command, program, changes }.edits()
}

struct Reader<'a> {
    script: &'a Script,
    command: &'a SimpleCommand,
    program: Program,
    changes: Vec<Change>,
}

/// What becomes of one word.
struct Edited {
    /// The options that the word becomes, in order.
    options: Vec<String>,
    /// How many bytes of the word's value they are written for. The rest stays.
    length: usize,
    rules: Vec<u64>,
}

impl Reader<'_> {
    fn edits(&self) -> Vec<Edit> {
        let mut found = Vec::new();
        let inner = super::inner_commands(self.script, self.command);
        let first = self.changes.iter().map(|change| change.first).min().unwrap_or(1);
        let mut index = 1;
        while let Some(word) = self.command.words.get(index) {
            if word.fixed() == Some("--") {
                break;
            }
            if inner.iter().any(|range| range.contains(&word.range.start)) {
                index += 1;
                continue;
            }
            let is_operand = word.fixed().is_none_or(|value| !value.starts_with('-'));
            if is_operand && index >= first && self.program.ends_at_operand {
                break;
            }
            let mut skip = 0;
            if let Some(value) = option(self.script, word) {
                let cluster = self.program.cluster(&value);
                let next = cluster.as_ref().is_some_and(|c| c.takes_next)
                    || self.takes_next(index, &value);
                skip = usize::from(word.fixed().is_some() && next);
                let edited = self.long(index, &value, word).or_else(|| {
                    let cluster = cluster.filter(|_| word.fixed().is_some())?;
                    self.short(index, &value, &cluster)
                });
                let dropped = edited.as_ref().is_some_and(|edited| edited.options.is_empty());
                let with = if dropped { index + skip } else { index };
                found.extend(edited.and_then(|edited| self.edit(index, with, &value, edited)));
            }
            index += 1 + skip;
        }
        found
    }

    fn change(&self, index: usize, flag: &Flag) -> Option<&Change> {
        self.changes.iter().find(|change| change.first <= index && change.from == *flag)
    }

    fn long(&self, index: usize, value: &str, word: &Word) -> Option<Edited> {
        let (name, given) = match value.split_once('=') {
            Some((name, _)) => (name, true),
            None => (value, false),
        };
        // `--na$x` may be any option.
        if !given && word.fixed().is_none() {
            return None;
        }
        let change = self.change(index, &Flag::Long(name.to_owned()))?;
        let rules = vec![change.rule];
        match &change.to {
            // A value in the same word has no certain spelling there.
            Some(Flag::Short(_)) if given => None,
            Some(flag) => Some(Edited { options: vec![flag.text()], length: name.len(), rules }),
            None => {
                word.fixed().map(|value| Edited { options: Vec::new(), length: value.len(), rules })
            }
        }
    }

    /// Whether the word after a long option is its value. An option that becomes another one is
    /// as that one.
    fn takes_next(&self, index: usize, option: &str) -> bool {
        let change = self.change(index, &Flag::Long(option.to_owned()));
        let meant = match change.map(|change| &change.to) {
            Some(Some(Flag::Long(name))) => name,
            _ => option,
        };
        let words = &self.command.words;
        let subcommand = words.get(1).and_then(|word| word.fixed()).unwrap_or_default();
        let program = self.command.name().unwrap_or_default();
        meant.len() > 2 && program_options::takes_next(program, subcommand, meant)
    }

    fn short(&self, index: usize, value: &str, cluster: &Cluster) -> Option<Edited> {
        let length = 1 + cluster.letters.len();
        let attached = length < value.len();
        let mut options: Vec<String> = Vec::new();
        let mut rules = Vec::new();
        let mut open = false;
        for (at, letter) in cluster.letters.chars().enumerate() {
            let takes = cluster.valued && at + 1 == cluster.letters.len();
            let change = self.change(index, &Flag::Short(letter));
            rules.extend(change.map(|change| change.rule));
            let kept = match change.map(|change| &change.to) {
                None => Some(letter),
                Some(Some(Flag::Short(other))) => Some(*other),
                Some(Some(Flag::Long(name))) if !(takes && attached) => {
                    options.push(name.clone());
                    open = false;
                    None
                }
                Some(None) if !takes => None,
                _ => return None,
            };
            match (kept, options.last_mut().filter(|_| open)) {
                (Some(letter), Some(last)) => last.push(letter),
                (Some(letter), None) => {
                    options.push(format!("-{letter}"));
                    open = true;
                }
                (None, _) => {}
            }
        }
        (!rules.is_empty()).then_some(Edited { options, length, rules })
    }

    /// The edit of a word, in the quotes that it has. An option that is dropped takes the words up to
    /// `last` along, its value.
    fn edit(&self, index: usize, last: usize, value: &str, edited: Edited) -> Option<Edit> {
        let word = &self.command.words[index];
        let source = &self.script.text()[word.range.clone()];
        let Edited { options, length, rules } = edited;
        if options.is_empty() {
            let start = self.with_blanks_before(index).start;
            let end = self.command.words.get(last)?.range.end;
            let crosses = |r: &Redirect| super::overlap(&r.range, &(start..end));
            let apart = !self.command.redirects.iter().any(crosses);
            return apart.then(|| Edit { range: start..end, text: String::new(), rules });
        }
        let text = match source.find(&value[..length]) {
            Some(at) if source[..at].bytes().all(|b| b"'\"\\".contains(&b)) => {
                let (front, back) = (&source[..at], &source[at + length..]);
                match options.as_slice() {
                    [only] => format!("{front}{only}{back}"),
                    _ if front.is_empty() => format!("{}{back}", options.join(" ")),
                    [first, rest @ ..] if length == value.len() => {
                        format!("{front}{first}{back} {}", rest.join(" "))
                    }
                    _ => return None,
                }
            }
            // Quotes in the middle of it: the word is written in one piece.
            _ => {
                let whole = format!("{}{}", options.join(" "), &word.fixed()?[length..]);
                let quoted = if options.len() == 1 { bash::quote(&whole) } else { whole };
                escape_for_nesting::for_command(self.script, self.command, &quoted)?
            }
        };
        Some(Edit { range: word.range.clone(), text, rules })
    }

    fn with_blanks_before(&self, index: usize) -> Range<usize> {
        let range = &self.command.words[index].range;
        let before = self.command.words[index - 1].range.end;
        let between = &self.script.text()[before..range.start];
        let blank = between.bytes().all(|b| b == b' ' || b == b'\t');
        if blank { before..range.end } else { range.clone() }
    }
}

//! Which builtin a simple command calls, and with what. Quotes, a backslash, `command` and `builtin`
//! change nothing about that: `\declare`, `'declare'` and `command -p builtin declare` declare.

use crate::bash::tree::{Part, Simple, Word};
use std::ops::Range;

/// The name that a command calls in the end, with its arguments. `None` if only bash knows it.
pub fn called(simple: &Simple) -> Option<(&str, &[Word])> {
    let mut words = simple.words.as_slice();
    loop {
        let (first, arguments) = words.split_first()?;
        let name = first.text.as_deref()?;
        if !matches!(name, "command" | "builtin") {
            return Some((name, arguments));
        }
        let options = arguments.iter().map_while(|w| w.text.as_deref());
        let options: Vec<&str> = options.take_while(|t| t.starts_with('-')).collect();
        // `command -v` starts nothing.
        if options.iter().any(|o| o.contains(['v', 'V'])) {
            return None;
        }
        words = &arguments[options.len()..];
    }
}

pub fn declares(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
}

/// The words that name what `read` and its like set; their options' arguments are data.
pub fn names_set<'a>(name: &str, arguments: &'a [Word]) -> Vec<&'a Word> {
    match name {
        "getopts" => arguments.get(1).into_iter().collect(),
        "printf" => {
            let set = arguments.first().is_some_and(|w| w.text.as_deref() == Some("-v"));
            arguments.get(1).filter(|_| set).into_iter().collect()
        }
        _ => {
            let text = |index: usize| arguments[index].text.as_deref();
            let indexes = name_indexes(name, 0..arguments.len(), text);
            indexes.into_iter().map(|index| &arguments[index]).collect()
        }
    }
}

/// Which arguments of `read`, `unset` and `mapfile` are names: all but options and their arguments.
pub fn name_indexes<'a>(
    name: &str,
    mut arguments: Range<usize>,
    text: impl Fn(usize) -> Option<&'a str>,
) -> Vec<usize> {
    let takes = match name {
        "read" => "dinNptu",
        "mapfile" | "readarray" => "dnOsucC",
        _ => "",
    };
    let mut first = arguments.start;
    while let Some(letters) = arguments.next().and_then(&text).and_then(|t| t.strip_prefix('-')) {
        // The first letter that takes an argument takes the rest of the word, or else the next.
        if letters.find(|c| takes.contains(c)).is_some_and(|at| at + 1 == letters.len()) {
            arguments.next();
        }
        first = arguments.start;
        if letters == "-" {
            break;
        }
    }
    (first..arguments.end).collect()
}

/// An operand of a declaration or of `unset`.
#[derive(Debug, PartialEq, Eq)]
pub enum DeclarationOperand {
    /// `-gA`: its letters. `+A` takes attributes away, and is none.
    Flags(String),
    /// `name`, `name=…`, `name[…]…`.
    Named(String),
    /// Some name, and no flag.
    Unknown,
    /// Only bash knows how many words this is, and what they are.
    Anything,
}

pub fn operand(word: &Word, text: &str) -> DeclarationOperand {
    let whole = word.text.as_deref();
    let start = match whole {
        Some(text) => text.to_owned(),
        None => literal_start(word, text),
    };
    if let (Some(_), Some(letters)) = (whole, start.strip_prefix(['-', '+'])) {
        let plain = letters.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
        let letters = if start.starts_with('-') { letters } else { "" };
        return if plain {
            DeclarationOperand::Flags(letters.to_owned())
        } else {
            DeclarationOperand::Anything
        };
    }
    let end = start.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let name = &start[..end.unwrap_or(start.len())];
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = &start[name.len()..];
    let complete = ["=", "+=", "["].iter().any(|sign| rest.starts_with(sign));
    if named && (complete || whole.is_some() && rest.is_empty()) {
        return DeclarationOperand::Named(name.to_owned());
    }
    // `"$name=$value"` is one word, and with its `=` no flag that bash would take.
    let source = &text[word.range.clone()];
    let one_word = matches!(word.parts.as_slice(), [Part::Double { .. }]);
    match whole.is_none() && one_word && (named || source.contains('=')) {
        true => DeclarationOperand::Unknown,
        false => DeclarationOperand::Anything,
    }
}

/// The text in front of a word's first expansion.
fn literal_start(word: &Word, text: &str) -> String {
    let mut start = String::new();
    let mut parts: Vec<&Part> = word.parts.iter().rev().collect();
    while let Some(part) = parts.pop() {
        match part {
            Part::Literal(range) => start.push_str(&text[range.clone()]),
            Part::Single(range) => start.push_str(&text[range.start + 1..range.end - 1]),
            Part::Double { parts: inner, .. } => parts.extend(inner.iter().rev()),
            _ => break,
        }
    }
    start
}

//! Which builtin a simple command calls, and with what. Quotes, a backslash, `command` and `builtin`
//! change nothing about that: `\declare`, `'declare'` and `command -p builtin declare` declare.

use crate::bash::tree::{Simple, Word};
use std::ops::Range;

/// The name that a command calls in the end, with its arguments. `None` if only bash knows it.
pub fn called(simple: &Simple) -> Option<(&str, &[Word])> {
    let mut words = simple.words.as_slice();
    loop {
        let (first, arguments) = words.split_first()?;
        let name = first.fixed()?;
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

/// The names of what `read` and its like set, `None` where only bash knows one.
pub fn names_set<'a>(name: &str, arguments: &'a [Word]) -> Vec<Option<&'a str>> {
    let text = |index: usize| arguments[index].text.as_deref();
    match (name, arguments.first().and_then(|w| w.text.as_deref())) {
        ("getopts", _) if arguments.len() > 1 => vec![text(1)],
        ("printf", Some("-v")) if arguments.len() > 1 => vec![text(1)],
        ("printf", Some(joined)) if joined.starts_with("-v") => vec![Some(&joined[2..])],
        ("getopts" | "printf", _) => Vec::new(),
        _ => name_indexes(name, 0..arguments.len(), text).into_iter().map(text).collect(),
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

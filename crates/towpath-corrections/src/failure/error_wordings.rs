//! How programs report something that does not exist: one row of `error_wordings.txt` for each wording.

use regex::{Regex, RegexSet};
use std::sync::LazyLock;
use towpath_core::data_rows;

/// The subject of a wording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Tool,
    /// In the shell's own words.
    Command,
    /// In the words of a program that starts others: with exit code 127 only.
    StartedCommand,
    Subcommand,
    Flag,
}

impl Unknown {
    fn of(word: &str) -> Unknown {
        match word {
            "tool" => Unknown::Tool,
            "command" => Unknown::Command,
            "started" => Unknown::StartedCommand,
            "subcommand" => Unknown::Subcommand,
            "flag" => Unknown::Flag,
            other => unreachable!("error_wordings.txt has no {other:?}: a test reads every row"),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Unknown::Tool => "tool",
            Unknown::Command | Unknown::StartedCommand => "command",
            Unknown::Subcommand => "subcommand",
            Unknown::Flag => "flag",
        }
    }
}

pub(super) struct Parser {
    /// Who writes so: a library, or a program with a parser of its own.
    pub name: &'static str,
    pub unknown: Unknown,
    pattern: &'static str,
}

/// The rows of `error_wordings.txt`.
pub(super) static PARSERS: LazyLock<Vec<Parser>> = LazyLock::new(|| {
    let rows = data_rows(include_str!("error_wordings.txt"));
    rows.map(|[unknown, name, pattern]| Parser { name, unknown: Unknown::of(unknown), pattern })
        .collect()
});

static PATTERNS: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    let sources: Vec<String> = PARSERS.iter().map(|row| expanded(row.pattern)).collect();
    let compiled = sources.iter().map(|s| Regex::new(s).expect("a test compiles every row"));
    (RegexSet::new(&sources).expect("a test compiles every row"), compiled.collect())
});

fn expanded(pattern: &str) -> String {
    let token = "[`'\"‘“]?(?P<t>[^\\s`'\"’”;,]*[^\\s`'\"’”;,.:!])[`'\"’”]?";
    let programs = r"(?:[^\s:]+(?: [a-z][\w-]*)?: )*(?:(?i:error): )?";
    let end = |pattern: &str| match pattern.strip_suffix('$') {
        Some(start) => format!(r"{start}\s*$"),
        None => pattern.to_owned(),
    };
    format!("(?m)^(?:{})", end(pattern).replace('%', programs).replace('@', token))
}

/// The rows that fit a text, in their order, with what each names.
pub(super) fn found(text: &str) -> impl Iterator<Item = (&'static Parser, &str)> {
    let (set, compiled) = &*PATTERNS;
    set.matches(text).into_iter().flat_map(move |at| {
        let named = compiled[at].captures_iter(text).filter_map(|c| c.name("t"));
        named.map(move |name| (&PARSERS[at], name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_compiles() {
        for parser in PARSERS.iter() {
            let pattern = expanded(parser.pattern);
            assert!(Regex::new(&pattern).is_ok(), "{}: {pattern}", parser.name);
        }
    }

    #[test]
    fn what_does_not_exist_is_named_without_its_quotes() {
        let named = |text: &'static str| found(text).next().map(|(row, name)| (row.name, name));
        let row = "error: unexpected argument '--relase' found";
        assert_eq!(named(row), Some(("clap", "--relase")));
        assert_eq!(named("bash: line 1: gti: command not found"), Some(("bash", "gti")));
        assert_eq!(named("test a ... FAILED"), None);
    }
}

//! Tables of line shapes, read from `line_shapes.txt`, and lists of words, read from `words.txt`. A row is
//! tried only on lines that contain its literal, and its regex is compiled when it is first needed:
//! judging a probe stays linear and cheap.

use crate::printed_text::Line;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, Error};
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};
use towpath_core::{data_rows, data_section};

/// A shape of a line and what it means.
struct Row<K> {
    kind: K,
    /// In lower case; a line without it cannot match. Empty where no text is common to all.
    literal: &'static str,
    /// Without regard to case.
    regex: &'static str,
    compiled: OnceLock<Regex>,
}

/// The words and phrases of a section.
pub(super) fn words(section: &'static str) -> &'static [&'static str] {
    static SECTIONS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let (mut sections, mut name) = (HashMap::new(), "");
        for [row] in data_rows(include_str!("words.txt")) {
            match row.strip_prefix('[').and_then(|row| row.strip_suffix(']')) {
                Some(section) => name = section,
                None => sections.entry(name).or_insert_with(Vec::new).push(row),
            }
        }
        sections
    });
    &SECTIONS[section]
}

/// A table of shapes; the kind of its rows is [`EvidenceKind`](crate::EvidenceKind), or a word for its reader.
pub(super) struct LineTable<K: 'static> {
    section: &'static str,
    rows: OnceLock<Vec<Row<K>>>,
}

impl<K: Copy + Deserialize<'static>> LineTable<K> {
    pub const fn new(section: &'static str) -> LineTable<K> {
        LineTable { section, rows: OnceLock::new() }
    }

    fn rows(&self) -> &[Row<K>] {
        self.rows.get_or_init(|| {
            let row = |[kind, literal, regex]: [&'static str; 3]| {
                let kind = K::deserialize(BorrowedStrDeserializer::<Error>::new(kind));
                let kind = kind.expect("a test reads every row");
                Row { kind, literal, regex, compiled: OnceLock::new() }
            };
            data_rows(data_section(include_str!("line_shapes.txt"), self.section))
                .map(row)
                .collect()
        })
    }

    /// All rows that a line matches, in the order of the table.
    pub fn matches<'t, 'l>(&'t self, line: &'l Line) -> impl Iterator<Item = (K, Captures<'l>)> + 't
    where
        'l: 't,
    {
        self.candidates(line).filter_map(|(kind, regex)| Some((kind, regex.captures(&line.text)?)))
    }

    /// The rows whose literal a line contains, compiled.
    pub fn candidates<'t, 'l: 't>(
        &'t self,
        line: &'l Line,
    ) -> impl Iterator<Item = (K, &'t Regex)> {
        let rows = self.rows().iter().filter(|row| line.lower.contains(row.literal));
        rows.map(|row| {
            let regex = row.compiled.get_or_init(|| {
                Regex::new(&format!("(?i){}", row.regex)).expect("a test compiles every row")
            });
            (row.kind, regex)
        })
    }

    pub fn find(&self, line: &Line) -> Option<K> {
        self.matches(line).next().map(|(kind, _)| kind)
    }

    /// Checks every row, for the tests of the tables.
    #[cfg(test)]
    pub fn compile_all(&self) {
        let mut faults = Vec::new();
        assert!(!self.rows().is_empty(), "{}", self.section);
        for row in self.rows() {
            assert_eq!(row.literal, row.literal.to_lowercase());
            faults.extend(line_without_literal(row.literal, row.regex));
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}

#[cfg(test)]
const MADE_LINES: usize = 200;

/// A row whose literal is not in what its regex matches would never be tried. Lines are made from the
/// regex: one that matches and has no literal is returned.
#[cfg(test)]
fn line_without_literal(literal: &str, regex: &str) -> Option<String> {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;

    let matches = Regex::new(&format!("(?i){regex}")).unwrap_or_else(|e| panic!("{regex}: {e}"));
    let mut runner = TestRunner::deterministic();
    let mut tried = 0;
    for boundary in ["", " "] {
        let strategy = proptest::string::string_regex(&without_assertions(regex, boundary))
            .unwrap_or_else(|e| panic!("{regex}: {e}"));
        for _ in 0..MADE_LINES {
            let line = strategy.new_tree(&mut runner).expect("a line is made").current();
            if !matches.is_match(&line) {
                continue;
            }
            tried += 1;
            if !line.to_ascii_lowercase().contains(literal) {
                return Some(format!("`{literal}` is not in `{line}`, which matches {regex}"));
            }
        }
    }
    (tried == 0).then(|| format!("no line was made for {regex}"))
}

/// A regex without `^` and `$`, and with something else for `\b`, from which lines can be made.
#[cfg(test)]
fn without_assertions(regex: &str, boundary: &str) -> String {
    let mut plain = String::new();
    let mut letters = regex.chars();
    let mut class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('b') => plain.push_str(boundary),
                Some(escaped) => plain.extend(['\\', escaped]),
                None => {}
            },
            '^' | '$' if !class => {}
            _ => {
                class = (class || letter == '[') && letter != ']';
                plain.push(letter);
            }
        }
    }
    plain
}

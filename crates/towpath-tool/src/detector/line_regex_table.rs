//! Tables of line shapes. A row is tried only on lines that contain its literal, and its regex is
//! compiled when it is first needed: judging a probe stays linear and cheap.

use crate::clean_printed_text::Line;
use regex::{Captures, Regex};
use std::ops::Range;
use std::sync::OnceLock;

/// A shape of a line and what it means.
pub(super) struct Row<K: 'static> {
    pub kind: K,
    /// In lower case; a line without it cannot match.
    pub literal: &'static str,
    /// Without regard to case.
    pub regex: &'static str,
}

pub(super) const fn row<K>(kind: K, literal: &'static str, regex: &'static str) -> Row<K> {
    Row { kind, literal, regex }
}

pub(super) struct LineTable<K: 'static> {
    rows: &'static [Row<K>],
    compiled: OnceLock<Vec<OnceLock<Regex>>>,
}

impl<K: Copy> LineTable<K> {
    pub const fn new(rows: &'static [Row<K>]) -> LineTable<K> {
        LineTable { rows, compiled: OnceLock::new() }
    }

    /// All rows that a line matches, in the order of the table.
    pub fn matches<'t, 'l>(&'t self, line: &'l Line) -> impl Iterator<Item = (K, Captures<'l>)> + 't
    where
        'l: 't,
    {
        self.candidates(line).filter_map(|(kind, regex)| Some((kind, regex.captures(&line.text)?)))
    }

    /// Every range of a line that a row matches, row by row.
    pub fn all_ranges(&self, line: &Line) -> Vec<(K, Range<usize>)> {
        let ranges = |(kind, regex): (K, &'_ Regex)| {
            let found = regex.find_iter(&line.text).map(|found| (kind, found.range()));
            found.collect::<Vec<_>>()
        };
        self.candidates(line).flat_map(ranges).collect()
    }

    /// The rows whose literal a line contains, compiled.
    fn candidates<'t, 'l: 't>(&'t self, line: &'l Line) -> impl Iterator<Item = (K, &'t Regex)> {
        let compiled = self
            .compiled
            .get_or_init(|| std::iter::repeat_with(OnceLock::new).take(self.rows.len()).collect());
        let rows = self.rows.iter().zip(compiled);
        let rows = rows.filter(|(row, _)| line.lower.contains(row.literal));
        rows.map(|(row, cell)| {
            let regex = cell.get_or_init(|| {
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
        for row in self.rows {
            assert_eq!(row.literal, row.literal.to_lowercase());
            assert!(!row.literal.is_empty(), "{}", row.regex);
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

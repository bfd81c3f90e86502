//! Whether the parser's tree and the scanner see the same quoting.
//!
//! What has no placeholder in it is compared as a whole and not further: its inside can change
//! nothing outside. Everything around a placeholder must be the same to the byte.

use crate::bash::Exact;
use crate::bash::scanner::{Atom, Kind, ScannedWord};
use crate::bash::tree::*;
use crate::bash::visit::{self, Visitor};
use std::cmp::Reverse;
use std::ops::Range;

/// Where the tree of `text` and the scanner's atoms first differ.
pub fn difference(
    text: &str,
    exact: &Exact,
    block: &Block,
    atoms: &[Atom],
    words: &[ScannedWord],
) -> Option<Range<usize>> {
    let mut tree = SeenByParser {
        text,
        exact,
        words,
        seen: Vec::new(),
        opaque: Vec::new(),
        split: Vec::new(),
    };
    visit::block(block, &mut tree);
    let SeenByParser { mut seen, mut opaque, split, .. } = tree;
    seen.sort_by_key(|(range, kind)| (range.start, Reverse(range.end), *kind));
    // What is between backticks is compared on its own.
    let backticks: Vec<_> = seen.iter().filter(|(_, k)| *k == Kind::Backtick).collect();
    let own = |word: &Range<usize>| {
        let before = &backticks[..backticks.partition_point(|(b, _)| b.start <= word.start)];
        before.last().is_some_and(|(b, _)| word.start < b.end)
    };
    if let Some(word) = split.into_iter().find(|word| !own(word)) {
        return Some(word);
    }
    opaque.sort_by_key(|range| range.start);
    let compared = |kind: Kind| !matches!(kind, Kind::Escape | Kind::ArithmeticFor);
    let scanned = atoms.iter().map(|a| (a.range.clone(), a.kind)).filter(|(_, k)| compared(*k));
    let mut seen = outer(exact, seen.into_iter(), &opaque);
    let mut scanned = outer(exact, scanned, &opaque);
    loop {
        match (seen.next(), scanned.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                return a.into_iter().chain(b).map(|(range, _)| range).min_by_key(|r| r.start);
            }
        }
    }
}

/// Leaves out what is inside of something without a placeholder, or of what the tree does not show.
fn outer(
    exact: &Exact,
    atoms: impl Iterator<Item = (Range<usize>, Kind)>,
    opaque: &[Range<usize>],
) -> impl Iterator<Item = (Range<usize>, Kind)> {
    let mut inside = 0;
    atoms.filter(move |(range, kind)| {
        let hidden = opaque[..opaque.partition_point(|o| o.start <= range.start)]
            .last()
            .is_some_and(|o| range.end <= o.end);
        if range.start < inside || hidden {
            return false;
        }
        if *kind == Kind::Backtick || !exact(range) {
            inside = range.end;
        }
        true
    })
}

struct SeenByParser<'a> {
    text: &'a str,
    exact: &'a Exact<'a>,
    words: &'a [ScannedWord],
    /// Words that the scanner divides otherwise.
    split: Vec<Range<usize>>,
    seen: Vec<(Range<usize>, Kind)>,
    /// What the tree keeps as text only. A placeholder in it is refused by the walk.
    opaque: Vec<Range<usize>>,
}

impl Visitor for SeenByParser<'_> {
    fn comments(&mut self, comments: &[Range<usize>]) {
        self.seen.extend(comments.iter().map(|c| (c.clone(), Kind::Comment)));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.command {
            Command::Test(operands) => {
                let names = operands.iter().filter_map(|o| match o {
                    Operand::Name(range) => Some(range.clone()),
                    _ => None,
                });
                self.opaque.extend(names);
            }
            Command::Arithmetic(a) => self.seen.push((a.range.clone(), Kind::Arithmetic)),
            _ => {}
        }
        for redirect in &statement.redirects {
            if let Target::HereDoc(doc) = &redirect.target {
                self.seen.push((doc.body.clone(), Kind::HereDoc { quoted: doc.quoted }));
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if let AssignedValue::Array(elements) = &assignment.value {
            let keys = elements.iter().filter_map(|e| e.key.as_ref());
            self.seen.extend(keys.map(|k| (k.range.start - 1..k.range.end + 1, Kind::Key)));
        }
    }

    /// The value of an assignment is the end of a word, every other word is a whole one.
    fn word(&mut self, word: &Word) {
        let bare = |end: usize| self.text[..end].trim_end_matches("\\\n").len();
        let end = bare(word.range.end);
        let from = self.words.partition_point(|w| bare(w.range.end) < end);
        let whole = self.words[from..]
            .iter()
            .take_while(|w| bare(w.range.end) == end)
            .any(|w| w.range.start <= word.range.start);
        if (self.exact)(&word.range) && !whole {
            self.split.push(word.range.clone());
        }
    }

    fn part(&mut self, part: &Part) {
        let (range, kind) = match part {
            Part::Single(range) => (range, Kind::Single),
            Part::Ansi(range) => (range, Kind::Ansi),
            Part::Double { range, .. } => (range, Kind::Double),
            Part::Parameter(parameter) => (&parameter.range, Kind::Parameter),
            Part::Variable { range, .. } if self.text[range.clone()].starts_with("${") => {
                (range, Kind::Parameter)
            }
            Part::Arithmetic(arithmetic) => (&arithmetic.range, Kind::Arithmetic),
            Part::Substitution { range, kind: SubstitutionKind::Dollar, .. } => {
                (range, Kind::Command)
            }
            Part::Substitution { range, kind: SubstitutionKind::Process, .. } => {
                (range, Kind::Process)
            }
            Part::Substitution { range, kind: SubstitutionKind::Backtick, .. } => {
                (range, Kind::Backtick)
            }
            Part::Class(range) | Part::Unclear(range) => {
                self.opaque.push(range.clone());
                return;
            }
            Part::Variable { range, .. } => (range, Kind::Variable),
            Part::Literal(_) => return,
        };
        self.seen.push((range.clone(), kind));
    }
}

//! A text in which what has no placeholder is replaced by harmless text of the same length.
//!
//! The parser library misreads some quoted strings, escapes and expansions, and has limits. Where
//! the scanner is certain of a piece and no placeholder is in it, the piece need not be understood:
//! only its position in the text counts, so every range stays true for the text as it was written.

use crate::bash::quoting;
use crate::bash::scanner::{Atom, Delimiter, Kind, Scan, Within};
use crate::mark::Region;
use std::cmp::Reverse;
use std::ops::Range;

pub struct SimplifiedText {
    pub text: String,
    /// What the scanner would find in `text`.
    pub atoms: Vec<Atom>,
    /// Comments with a placeholder, which are blank in `text`.
    pub comments: Vec<Range<usize>>,
}

impl SimplifiedText {
    pub fn of(region: &Region, scan: &Scan) -> SimplifiedText {
        let mut out =
            SimplifiedText { text: String::new(), atoms: Vec::new(), comments: Vec::new() };
        let mut bytes = region.text.clone().into_bytes();
        let mut inside = 0;
        for atom in &pieces(region, scan) {
            if atom.range.start < inside {
                continue;
            }
            let kept = region.has_mark(&atom.range) || atom.kind == Kind::Key;
            if !kept || matches!(atom.kind, Kind::Backtick | Kind::Comment) {
                inside = atom.range.end;
                out.replace(region, atom, &mut bytes);
            } else if atom.kind == Kind::Process {
                // The parser reads the commands in `$(…)` better than those in `<(…)`.
                bytes[atom.range.start] = b'$';
                out.atoms.push(Atom { kind: Kind::Command, ..atom.clone() });
            } else {
                out.atoms.push(atom.clone());
            }
        }
        for delimiter in &scan.delimiters {
            rename(&mut bytes, region, delimiter);
        }
        out.text = String::from_utf8(bytes).expect("whole characters were replaced by ASCII");
        out
    }

    /// Replaces whole command lines, sorted, by one word each.
    pub fn drop_lines(&mut self, lines: &[Range<usize>]) {
        for line in lines {
            self.text.replace_range(line.clone(), &".".repeat(line.len()));
        }
        self.atoms.retain(|a| {
            let before = &lines[..lines.partition_point(|l| l.start <= a.range.start)];
            before.last().is_none_or(|line| line.end < a.range.end)
        });
    }

    /// Of the blanks between tokens, no more than one newline stays at a time: each would count
    /// against the parser's limit. What is left is how many bytes it has to read.
    pub fn squeeze_blanks(&mut self) -> usize {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        let mut atoms = self.atoms.iter().peekable();
        let (mut at, mut newline, mut left) = (0, false, 0);
        while at < bytes.len() {
            if let Some(atom) = atoms.next_if(|a| a.range.start <= at) {
                if atom.range.end > at {
                    left += atom.range.end - at;
                    (at, newline) = (atom.range.end, false);
                }
                continue;
            }
            match bytes[at] {
                b'\n' if newline => bytes[at] = b' ',
                b'\n' => newline = true,
                b' ' | b'\t' => {}
                _ => (newline, left) = (false, left + 1),
            }
            at += 1;
        }
        self.text = String::from_utf8(bytes).expect("only blanks were replaced");
        left
    }

    fn replace(&mut self, region: &Region, atom: &Atom, bytes: &mut [u8]) {
        let written = &region.text[atom.range.clone()];
        if is_simple(atom, written) {
            self.atoms.push(atom.clone());
            return;
        }
        let target = &mut bytes[atom.range.clone()];
        let became = match (atom.kind, atom.within) {
            (Kind::Comment, _) => {
                target.fill(b' ');
                if region.has_mark(&atom.range) {
                    self.comments.push(atom.range.clone());
                }
                None
            }
            (Kind::HereDoc { .. }, _) => {
                target.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b'.');
                Some(atom.kind)
            }
            (Kind::ArithmeticFor, _) => Some(atom.kind),
            (Kind::Arithmetic, Within::Bare) if written.starts_with("((") => {
                target[2..written.len() - 2].fill(b'1');
                Some(atom.kind)
            }
            (Kind::Backtick, Within::Bare | Within::Double) => {
                target[1..written.len() - 1].fill(b'.');
                Some(atom.kind)
            }
            (Kind::Escape, Within::Arithmetic) => Some(atom.kind),
            (_, Within::Ansi) => fill(target, None),
            (Kind::Single | Kind::Ansi, _) => fill(target, Some(b'\'')),
            (Kind::Double, _) | (_, Within::Bare) => fill(target, Some(b'"')),
            (_, Within::Double) => fill(target, None),
            (_, Within::Arithmetic) => {
                target.fill(b'x');
                None
            }
        };
        self.atoms.extend(became.map(|kind| Atom { kind, ..atom.clone() }));
    }
}

/// The scanner's atoms, and words with braces, of which the parser is not sure where they are text.
fn pieces(region: &Region, scan: &Scan) -> Vec<Atom> {
    let braces = |range: &Range<usize>| {
        range.len() > 1
            && region.text[range.clone()].contains(['{', '}'])
            && !region.has_mark(range)
    };
    let words = scan.words.iter().filter(|w| w.argument && braces(&w.range));
    let mut pieces: Vec<Atom> = words
        .map(|w| Atom { kind: Kind::Word, range: w.range.clone(), within: Within::Bare })
        .chain(scan.atoms.iter().cloned())
        .collect();
    pieces.sort_by_key(|a| (a.range.start, Reverse(a.range.end)));
    pieces
}

/// A quoted string of the same length, or plain text.
fn fill(target: &mut [u8], quote: Option<u8>) -> Option<Kind> {
    target.fill(b'.');
    let quote = quote?;
    if let [first, .., last] = target {
        (*first, *last) = (quote, quote);
    }
    Some(if quote == b'"' { Kind::Double } else { Kind::Single })
}

/// What the parser library reads without fail stays as it is, so that names in it are seen.
fn is_simple(atom: &Atom, written: &str) -> bool {
    let only = |inner: &str, more: &str| {
        inner
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || more.as_bytes().contains(&b))
    };
    if atom.within == Within::Double {
        return false;
    }
    match atom.kind {
        Kind::Single => only(&written[1..written.len() - 1], " .,:/@%+=-"),
        Kind::Double => {
            let inner = written.trim_matches('"').replace("${", "$");
            only(inner.trim_end_matches('}'), " .,:/@%+=-$![]*#") && !written.starts_with('$')
        }
        Kind::Variable => true,
        Kind::Parameter => only(&written[2..written.len() - 1], ":-=+?#%@*.!/[]$"),
        Kind::Arithmetic => only(written, " $()+-*<>=!&|"),
        _ => false,
    }
}

/// A delimiter that is not a plain word becomes one, on both of its lines.
fn rename(bytes: &mut [u8], region: &Region, delimiter: &Delimiter) {
    let written = &region.text[delimiter.word.clone()];
    let plain = quoting::is_plain_word(written.trim_matches(['\'', '"']));
    let (outer, inner) = (delimiter.word.len(), delimiter.end_line.len());
    if plain || inner == 0 || outer < inner || region.has_mark(&delimiter.word) {
        return;
    }
    let text = &region.text;
    let Some(letter) = ('A'..='Z').find(|c| !text.contains(&c.to_string().repeat(inner))) else {
        return;
    };
    let quotes = outer - inner;
    let name = letter.to_string().repeat(inner);
    let pairs = "''".repeat((quotes / 2).saturating_sub(1));
    let word = match (quotes / 2, quotes % 2) {
        (0, 0) => name.clone(),
        (0, _) => format!("\\{name}"),
        (_, 0) => format!("{pairs}'{name}'"),
        (_, _) => format!("{pairs}'{}'\\{letter}", &name[1..]),
    };
    if word.len() == outer {
        bytes[delimiter.word.clone()].copy_from_slice(word.as_bytes());
        bytes[delimiter.end_line.clone()].copy_from_slice(name.as_bytes());
    }
}

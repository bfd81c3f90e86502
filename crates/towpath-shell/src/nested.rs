//! Code for another shell in the words of a command: `bash -c "… {{v}} …"`, `ssh HOST "…"`.
//!
//! Where those words are plain text but for their placeholders, the text that the other shell gets is
//! known. It is read as a text of its own, and the command gets the result in one variable: the code
//! begins with the values, each as one word in single quotes, which every POSIX shell reads alike.
//! Where an expansion stands beside the placeholders nobody knows the code before it runs: that is
//! not decided here, and warned about.

use crate::bash::grammar;
use crate::bash::quoting::{self, Quoting};
use crate::bash::tree::{Part, Redirect, Simple, Word};
use crate::inner_code;
use crate::programs::{self, Words};
use crate::region::{Mark, Region};
use std::ops::Range;

/// Shells in shells are read this deep.
pub const MAX_DEPTH: usize = 4;

/// The code that a command hands to another shell.
pub struct NestedCode {
    /// Its words, in the text around it.
    pub range: Range<usize>,
    /// The text as the other shell gets it.
    pub region: Region,
    /// Whether that shell is certainly bash.
    pub bash: bool,
}

/// The code in a command's words, if it has placeholders and is known but for them.
pub fn find(simple: &Simple, redirects: &[Redirect], region: &Region) -> Option<NestedCode> {
    let words = Words { words: &simple.words, region };
    let (indexes, shell) = programs::shell_code(&words)?;
    let code = &simple.words[indexes];
    let range = code.first()?.range.start..code.last()?.range.end;
    // A value that is all of the code is meant to be code.
    let meant = matches!(code, [word] if inner_code::is_one_place(region, word));
    let divided = redirects.iter().any(|r| r.range.start < range.end && range.start < r.range.end);
    if meant || divided || !region.has_mark(&range) {
        return None;
    }
    let mut chars = Vec::new();
    for (index, word) in code.iter().enumerate() {
        if index > 0 {
            chars.push((word.range.start, ' '));
        }
        unquoted(word, region, &mut chars)?;
    }
    let inner = region.select(&chars, range.end);
    // These have a syntax of their own.
    let other = matches!(shell, "zsh" | "ksh") && grammar::parse(&inner.text, &inner.text).is_err();
    (!other).then_some(NestedCode { range, region: inner, bash: shell == "bash" })
}

/// The word after quote removal, each character with where it stands. `None` if bash does more to it.
fn unquoted(word: &Word, region: &Region, chars: &mut Vec<(usize, char)>) -> Option<()> {
    let mut at = word.range.start;
    for part in &word.parts {
        let (outer, inner, quoting) = match part {
            Part::Literal(range) => (range, range.clone(), Quoting::Bare),
            Part::Single(range) => (range, range.start + 1..range.end - 1, Quoting::Single),
            Part::Double { range, parts } if region.text[range.clone()].starts_with('"') => {
                let plain = parts.iter().all(|p| matches!(p, Part::Literal(_)));
                let inner = range.start + 1..range.end - 1;
                plain.then_some((range, inner, Quoting::Double))?
            }
            _ => return None,
        };
        if outer.start != at || !quoting::is_inert(&region.text[inner.clone()], quoting) {
            return None;
        }
        at = outer.end;
        unescaped(inner, quoting, region, chars)?;
    }
    (at == word.range.end).then_some(())
}

fn unescaped(
    range: Range<usize>,
    quoting: Quoting,
    region: &Region,
    chars: &mut Vec<(usize, char)>,
) -> Option<()> {
    let marked = |at: usize| region.marks.binary_search_by_key(&at, |m: &Mark| m.at).is_ok();
    let mut from = region.text[range.clone()].char_indices().peekable();
    while let Some((offset, c)) = from.next() {
        let at = range.start + offset;
        match c {
            '\\' if quoting != Quoting::Single => {
                let (offset, next) = *from.peek()?;
                let escapes = quoting == Quoting::Bare || "$`\"\\\n".contains(next);
                if marked(range.start + offset) {
                    return None;
                }
                if !escapes {
                    chars.push((at, c));
                    continue;
                }
                from.next();
                if next != '\n' {
                    chars.push((range.start + offset, next));
                }
            }
            '*' | '?' | '[' | '{' | '~' if quoting == Quoting::Bare => return None,
            _ => chars.push((at, c)),
        }
    }
    Some(())
}

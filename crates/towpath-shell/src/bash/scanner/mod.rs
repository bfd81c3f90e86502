//! A second opinion on how bash reads a text: a scanner that knows quoting, substitutions,
//! here-documents, comments and where a command line is complete, and nothing else.
//!
//! It follows bash's own lexer, not the parser library, and looks at each byte a bounded number of
//! times. Where bash versions differ, or a construct is too odd to be certain, the text is an error
//! here: nothing is guessed.

mod command_list_state;
mod commands;
mod double_bracket_expression;
mod doubted_commands;
mod here_docs;
mod reserved_words;
mod words;

use crate::bash::{Exact, NotBash};
use here_docs::Pending;
use std::ops::Range;

/// What the scanner found in a text.
#[derive(Debug, Default)]
pub struct Scan {
    /// Sorted by start, the outer one first.
    pub atoms: Vec<Atom>,
    /// Command lines that are complete in themselves, as bash would read one after another: from the
    /// first token to the end of the line, with the here-documents that begin on it. Inner ones too.
    pub lines: Vec<Range<usize>>,
    pub delimiters: Vec<Delimiter>,
    /// The word after every `<<`, also where no line ends the here-document.
    pub here_doc_words: Vec<Range<usize>>,
    /// Sorted by end.
    pub words: Vec<ScannedWord>,
    /// What bash refuses, or does not read as it is written, although its words and quotes are clear.
    pub doubts: Vec<Range<usize>>,
}

/// A word, from the first byte of its token to the last: an assignment is one, with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedWord {
    pub range: Range<usize>,
    /// It comes after a command's name.
    pub argument: bool,
}

/// A piece of text that bash reads in its own way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    pub kind: Kind,
    /// Quotes, dollar and parentheses included.
    pub range: Range<usize>,
    pub within: Within,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `'…'`.
    Single,
    /// `$'…'`.
    Ansi,
    /// `"…"` or `$"…"`.
    Double,
    /// `$(…)`.
    Command,
    /// `<(…)`, `>(…)`.
    Process,
    Backtick,
    /// `${…}`.
    Parameter,
    /// `$name` and the special parameters.
    Variable,
    /// `$((…))`, `$[…]`, `((…))`.
    Arithmetic,
    /// The header of `for ((…))`.
    ArithmeticFor,
    Comment,
    /// The body of a here-document.
    HereDoc {
        quoted: bool,
    },
    /// The `[…]` of an array's element `[…]=`.
    Key,
    /// A backslash and what it escapes.
    Escape,
    /// A word after a command's name, as a whole.
    Word,
}

/// What surrounds a piece of text, as far as it decides how the piece is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Within {
    Bare,
    /// `"…"`, an expanding here-document, or a `${…}` inside of these.
    Double,
    Arithmetic,
    Ansi,
}

/// The delimiter of a here-document: as written after the operator, and the line that ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delimiter {
    pub word: Range<usize>,
    /// Without its newline and leading tabs.
    pub end_line: Range<usize>,
}

/// The deepest nesting. Each level is a few frames of this program's stack.
const MAX_DEPTH: usize = 200;

/// `exact` answers whether every detail of a piece counts. Others may be passed over where their inside
/// changes nothing outside.
pub fn scan(text: &str, exact: &Exact) -> Result<Scan, NotBash> {
    let mut scanner = Scanner {
        text,
        exact,
        bytes: text.as_bytes(),
        at: 0,
        end: text.len(),
        depth: 0,
        again: 4 * text.len() + 1024,
        substitutions: 0,
        outer_pending: 0,
        pending: Vec::new(),
        found: Scan::default(),
    };
    scanner.script()?;
    let mut found = scanner.found;
    found.words.sort_by_key(|w| w.range.end);
    found.atoms.sort_by_key(|a| (a.range.start, std::cmp::Reverse(a.range.end)));
    Ok(found)
}

type Step = Result<(), NotBash>;

struct Scanner<'a> {
    text: &'a str,
    exact: &'a Exact<'a>,
    bytes: &'a [u8],
    at: usize,
    /// Where the text that is looked at ends: the whole text's end, or a here-document's.
    end: usize,
    depth: usize,
    /// How many bytes may still be read a second time, where `((` turns out to be two subshells.
    again: usize,
    /// Substitutions with parentheses around this point.
    substitutions: usize,
    /// Here-documents that commands around a substitution still wait for.
    outer_pending: usize,
    pending: Vec<Pending>,
    found: Scan,
}

impl Scanner<'_> {
    fn error(&self, range: Range<usize>, message: &str) -> NotBash {
        let text = self.text;
        let start = text.floor_char_boundary(range.start);
        let end = text.ceil_char_boundary(range.end.min(text.len())).max(start);
        NotBash::syntax(start..end, message)
    }

    fn unclosed(&self, start: usize, what: &str) -> NotBash {
        self.error(start..start + 1, &format!("{what} is not closed"))
    }

    fn unsure(&self, start: usize) -> NotBash {
        NotBash::unsure(self.error(start..start + 1, "").range)
    }

    fn doubt(&mut self, range: Range<usize>) {
        self.found.doubts.push(range);
    }

    /// The next byte. A backslash before a newline joins two lines, and is passed over.
    fn peek(&mut self) -> Option<u8> {
        while self.at + 1 < self.end && &self.bytes[self.at..self.at + 2] == b"\\\n" {
            self.at += 2;
        }
        self.here()
    }

    fn here(&self) -> Option<u8> {
        (self.at < self.end).then(|| self.bytes[self.at])
    }

    /// Passes over `byte`, if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// The byte after the next one.
    fn second(&mut self) -> Option<u8> {
        let before = self.at;
        self.peek()?;
        self.at += 1;
        let second = self.peek();
        self.at = before;
        second
    }

    fn atom(&mut self, kind: Kind, start: usize, within: Within) {
        self.found.atoms.push(Atom { kind, range: start..self.at, within });
    }

    /// Runs one level deeper.
    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, NotBash>,
    ) -> Result<T, NotBash> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(self.at..self.at + 1, "this text is nested too deeply"));
        }
        let done = inner(self);
        self.depth -= 1;
        done
    }
}

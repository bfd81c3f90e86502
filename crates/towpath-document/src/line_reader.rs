//! The arguments of a call, `(a, "b c", {{d}})`, and the quoted strings that other directives share
//! with them. References are found before any value is known, so that no value can add an argument.

use crate::interpolated::{Interpolated, reference_at};
use crate::read_error::ReadError;
use towpath_core::Span;

/// How many arguments a call may have: one with more was not typed.
const MOST_ARGUMENTS: usize = 10_000;

/// Reads one line of a document, byte by byte. Every byte that it compares is ASCII, so that it never
/// stops inside of a character.
pub(crate) struct LineReader<'a> {
    /// Up to the end of the line.
    text: &'a str,
    pub at: usize,
}

impl<'a> LineReader<'a> {
    pub fn new(text: &'a str, at: usize, end: usize) -> LineReader<'a> {
        LineReader { text: &text[..end], at }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    pub fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// A name, as definitions have it.
    pub fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let name = &rest[..end.unwrap_or(rest.len())];
        let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        self.at += if starts { name.len() } else { 0 };
        starts.then_some(name)
    }

    /// From here to the end of the line.
    pub fn span_to_end(&self) -> Span {
        Span { start: self.at, end: self.text.trim_end().len().max(self.at) }
    }

    pub fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    /// Nothing but blanks may follow.
    pub fn expect_end(&mut self, after: &str) -> Result<(), ReadError> {
        self.skip_blanks();
        if self.rest().trim_end().is_empty() {
            return Ok(());
        }
        Err(ReadError::new(self.span_to_end(), format!("unexpected text after {after}")))
    }

    /// A quoted string; the reader is at its quote.
    pub fn quoted(&mut self) -> Result<Interpolated, ReadError> {
        let start = self.at;
        let mut string = Interpolated::default();
        self.quoted_into(&mut string)?;
        string.span = self.span_from(start);
        Ok(string)
    }

    /// A reference; the reader is at its braces.
    pub fn reference(&mut self) -> Interpolated {
        let start = self.at;
        let mut text = Interpolated::default();
        self.brace(&mut text);
        text.span = self.span_from(start);
        text
    }

    fn quoted_into(&mut self, string: &mut Interpolated) -> Result<(), ReadError> {
        let start = self.at;
        let quote = self.peek().unwrap_or_default();
        self.at += 1;
        loop {
            let Some(byte) = self.peek() else {
                let message = format!("unterminated string: there is no closing {}", quote as char);
                return Err(ReadError::new(
                    Span { start, end: self.text.trim_end().len() },
                    message,
                ));
            };
            match byte {
                _ if byte == quote => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escape(quote, string),
                b'{' if quote != b'\'' => self.brace(string),
                _ => self.plain(string),
            }
        }
    }

    /// A backslash in a string. What it does not protect keeps it.
    fn escape(&mut self, quote: u8, string: &mut Interpolated) {
        let after = &self.rest()[1..];
        let single = quote == b'\'';
        let (text, taken) = match after.bytes().next() {
            Some(b'\\') => ("\\", 2),
            Some(byte) if byte == quote => (&after[..1], 2),
            Some(b'n') if !single => ("\n", 2),
            Some(b't') if !single => ("\t", 2),
            _ if !single && after.starts_with("{{") => ("{{", 3),
            _ => ("\\", 1),
        };
        string.push_text(text);
        self.at += taken;
    }

    /// A brace that may begin a reference.
    fn brace(&mut self, string: &mut Interpolated) {
        match reference_at(self.text, self.at) {
            Some((path, end)) => {
                string.push_reference(path, Span { start: self.at, end });
                self.at = end;
            }
            None => self.plain(string),
        }
    }

    /// One character as it is.
    fn plain(&mut self, string: &mut Interpolated) {
        let width = self.rest().chars().next().map_or(1, char::len_utf8);
        string.push_text(&self.rest()[..width]);
        self.at += width;
    }

    /// The arguments of a call; the reader is behind its `(`, and afterwards behind its `)`.
    pub fn arguments(&mut self) -> Result<Vec<Interpolated>, ReadError> {
        let open = self.at - 1;
        let mut arguments = Vec::new();
        loop {
            let argument = self.argument(open)?;
            if arguments.len() >= MOST_ARGUMENTS {
                let span = Span { start: open, end: self.at };
                return Err(ReadError::new(span, "a call cannot have so many arguments"));
            }
            let last = self.take(")");
            if !(last && argument.written_nothing) {
                arguments.push(argument.text);
            }
            if last {
                return Ok(arguments);
            }
            self.at += 1;
        }
    }

    /// One argument, up to the `,` or `)` after it.
    fn argument(&mut self, open: usize) -> Result<Argument, ReadError> {
        self.skip_blanks();
        let start = self.at;
        let mut pieces = Interpolated::default();
        // How much of the last piece may not be trimmed, since it was quoted.
        let (mut quoted, mut kept) = (false, 0);
        let mut nested = Vec::new();
        loop {
            let Some(byte) = self.peek() else {
                let span = Span { start: open, end: self.text.trim_end().len() };
                return Err(ReadError::new(span, "`(` is not closed on its line"));
            };
            match byte {
                b',' | b')' if nested.is_empty() => break,
                b'"' | b'\'' | b'`' if nested.is_empty() => {
                    self.quoted_into(&mut pieces)?;
                    quoted = true;
                    kept = last_text(&pieces);
                }
                b'"' | b'\'' | b'`' => self.nested_quote(&mut pieces)?,
                b'{' if reference_at(self.text, self.at).is_some() => {
                    self.brace(&mut pieces);
                    kept = 0;
                }
                b'\\' if self.rest().starts_with("\\{{") => {
                    pieces.push_text("{{");
                    self.at += 3;
                }
                _ => {
                    nest(&mut nested, byte);
                    self.plain(&mut pieces);
                }
            }
        }
        trim_end(&mut pieces, kept);
        pieces.span = self.span_from(start);
        let written_nothing = pieces.pieces.is_empty() && !quoted;
        Ok(Argument { text: pieces, written_nothing })
    }

    /// A string inside of brackets: it protects what is in it, and stays as it is written.
    fn nested_quote(&mut self, pieces: &mut Interpolated) -> Result<(), ReadError> {
        let start = self.at;
        let quote = self.peek().unwrap_or_default();
        self.plain(pieces);
        loop {
            match self.peek() {
                None => {
                    let span = Span { start, end: self.text.trim_end().len() };
                    return Err(ReadError::new(span, "unterminated string in an argument"));
                }
                Some(b'\\') if self.rest().len() > 1 => {
                    self.plain(pieces);
                    self.plain(pieces);
                }
                Some(b'{') if quote != b'\'' => self.brace(pieces),
                Some(byte) => {
                    self.plain(pieces);
                    if byte == quote {
                        return Ok(());
                    }
                }
            }
        }
    }
}

struct Argument {
    text: Interpolated,
    /// Neither text nor an empty string.
    written_nothing: bool,
}

/// Follows brackets; a closing one that fits no open one is text.
fn nest(open: &mut Vec<u8>, byte: u8) {
    match byte {
        b'(' => open.push(b')'),
        b'[' => open.push(b']'),
        b'{' => open.push(b'}'),
        _ if open.last() == Some(&byte) => drop(open.pop()),
        _ => {}
    }
}

fn last_text(pieces: &Interpolated) -> usize {
    match pieces.pieces.last() {
        Some(crate::interpolated::Piece::Text(text)) => text.len(),
        _ => 0,
    }
}

/// Takes blanks from the end, but not those that were quoted.
fn trim_end(pieces: &mut Interpolated, kept: usize) {
    if let Some(crate::interpolated::Piece::Text(last)) = pieces.pieces.last_mut() {
        let end = last.trim_end_matches([' ', '\t']).len().max(kept);
        last.truncate(end);
        if last.is_empty() {
            pieces.pieces.pop();
        }
    }
}

//! Words: quotes, escapes and substitutions, down to where a word ends.

use super::{Atom, Kind, ScannedWord, Scanner, Step, Within};
use crate::bash::NotBash;
use std::ops::Range;

/// One word as it is written.
pub struct Token {
    pub range: Range<usize>,
    /// Its text if nothing in it is quoted or expanded.
    pub plain: Option<String>,
    /// It begins as an assignment does.
    pub assigns: bool,
    /// It is the assignment of an array, `a=(…)`.
    pub array: bool,
    /// It has `@(…)` or the like in it, which bash reads only once `shopt -s extglob` has run.
    pub pattern: bool,
}

/// Which words a subscript with blanks in it is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subscripts {
    No,
    /// `a[…]=`, where an assignment may come.
    AfterName,
    /// `[…]=` in the parentheses of an array.
    Element,
}

impl Scanner<'_> {
    pub fn word(&mut self, subscripts: Subscripts) -> Result<Token, NotBash> {
        let token = self.any_word(subscripts)?;
        let comment = self.bytes[token.range.clone()].starts_with(b"#");
        if token.pattern || token.array || comment {
            self.doubt(token.range.clone());
        }
        Ok(token)
    }

    /// A word, with patterns that only some contexts allow.
    pub fn any_word(&mut self, subscripts: Subscripts) -> Result<Token, NotBash> {
        self.peek();
        let start = self.at;
        let before = self.found.atoms.len();
        let (mut assigns, mut array, mut pattern) = (false, false, false);
        let begins = subscripts == Subscripts::AfterName;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' if self.second() != Some(b'(') => break,
                // `!(…)` where a command begins: most likely no pattern, but a subshell.
                b'(' if begins && &self.bytes[start..self.at] == b"!" => break,
                b'(' if self.extended_pattern(start) => {
                    pattern = true;
                    self.pair(b'(', b')', Within::Bare)?;
                }
                b'(' if self.compound_assignment(start) => {
                    (assigns, array) = (true, true);
                    self.array()?;
                }
                b'(' => break,
                b'[' if self.subscript_here(start, subscripts) => {
                    self.pair(b'[', b']', Within::Bare)?;
                    let assigned = self.peek() == Some(b'=')
                        || self.peek() == Some(b'+') && self.second() == Some(b'=');
                    if subscripts == Subscripts::Element && assigned {
                        self.atom(Kind::Key, start, Within::Bare);
                    }
                }
                b'=' => {
                    assigns |= self.names_variable(start);
                    self.at += 1;
                }
                _ => self.piece(byte, Within::Bare)?,
            }
        }
        let plain = (self.found.atoms.len() == before)
            .then(|| self.text[start..self.at].replace("\\\n", ""))
            .filter(|text| !text.contains('$'));
        let range = start..self.at;
        self.found.words.push(ScannedWord { range: range.clone(), argument: false });
        Ok(Token { range, plain, assigns, array, pattern })
    }

    /// One quoted string, escape, substitution or plain byte.
    pub fn piece(&mut self, byte: u8, within: Within) -> Step {
        let start = self.at;
        match byte {
            b'\\' => self.escape(within),
            b'\'' => {
                self.at += 1;
                self.single(start, within)
            }
            b'"' => {
                self.at += 1;
                self.double(start, within)
            }
            b'`' => self.backtick(within),
            b'$' => self.dollar(within),
            b'<' | b'>' if self.second() == Some(b'(') => {
                self.at += 1;
                self.take(b'(');
                self.substitution(start, Kind::Process, within)
            }
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    fn escape(&mut self, within: Within) -> Step {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.text[self.at..self.end].chars().next() else { return Ok(()) };
        self.at += next.len_utf8();
        self.atom(Kind::Escape, start, within);
        Ok(())
    }

    fn single(&mut self, start: usize, within: Within) -> Step {
        let rest = &self.bytes[self.at..self.end];
        let Some(length) = rest.iter().position(|b| *b == b'\'') else {
            return Err(self.unclosed(start, "this quote"));
        };
        self.at += length + 1;
        self.atom(Kind::Single, start, within);
        Ok(())
    }

    fn ansi(&mut self, start: usize, within: Within) -> Step {
        while let Some(byte) = self.here() {
            match byte {
                b'\\' => self.escape(Within::Ansi)?,
                b'\'' => {
                    self.at += 1;
                    self.atom(Kind::Ansi, start, within);
                    return Ok(());
                }
                _ => self.at += 1,
            }
        }
        Err(self.unclosed(start, "this quote"))
    }

    fn double(&mut self, start: usize, within: Within) -> Step {
        self.deeper(|s| {
            while let Some(byte) = s.peek() {
                match byte {
                    b'"' => {
                        s.at += 1;
                        s.atom(Kind::Double, start, within);
                        return Ok(());
                    }
                    b'\\' | b'`' | b'$' => s.piece(byte, Within::Double)?,
                    _ => s.at += 1,
                }
            }
            Err(s.unclosed(start, "this quote"))
        })
    }

    /// Nothing but a backslash means anything in it: its text is read again, on its own.
    fn backtick(&mut self, within: Within) -> Step {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.here() {
            self.at += if byte == b'\\' && self.at + 1 < self.end { 2 } else { 1 };
            if byte == b'`' {
                self.atom(Kind::Backtick, start, within);
                return Ok(());
            }
        }
        Err(self.unclosed(start, "this backtick"))
    }

    fn dollar(&mut self, within: Within) -> Step {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'(') if self.second() == Some(b'(') => self.arithmetic_or_command(start, within),
            Some(b'(') => {
                self.at += 1;
                self.substitution(start, Kind::Command, within)
            }
            Some(b'{') => {
                self.at += 1;
                self.parameter(start, within)
            }
            Some(b'[') => {
                self.pair(b'[', b']', Within::Arithmetic)?;
                self.atom(Kind::Arithmetic, start, within);
                Ok(())
            }
            Some(b'\'') if within == Within::Bare => {
                self.at += 1;
                self.ansi(start, within)
            }
            Some(b'"') if within == Within::Bare => {
                self.at += 1;
                self.double(start, within)
            }
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_') {
                    self.at += 1;
                }
                self.atom(Kind::Variable, start, within);
                Ok(())
            }
            Some(c) if c.is_ascii_digit() || b"@*#?$!-".contains(&c) => {
                self.at += 1;
                self.atom(Kind::Variable, start, within);
                let begins = c == b'$' && matches!(self.peek(), Some(b'(' | b'{' | b'['));
                match begins && within != Within::Bare {
                    true => Err(self.unsure(start)),
                    false => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// `${…}`: the first `}` that nothing quotes ends it.
    fn parameter(&mut self, start: usize, within: Within) -> Step {
        let inner = if within == Within::Double { Within::Double } else { Within::Bare };
        self.deeper(|s| {
            while let Some(byte) = s.peek() {
                match byte {
                    b'}' => {
                        s.at += 1;
                        s.atom(Kind::Parameter, start, within);
                        return Ok(());
                    }
                    b'$' if s.second() == Some(b'\'') => {
                        let quote = s.at;
                        s.at += 1;
                        s.take(b'\'');
                        s.ansi(quote, inner)?;
                    }
                    b'<' | b'>' if inner == Within::Double && s.second() == Some(b'(') => {
                        return Err(s.unsure(s.at));
                    }
                    _ => s.piece(byte, inner)?,
                }
            }
            Err(s.unclosed(start, "this `${`"))
        })
    }

    /// The inside of `$(…)` or `<(…)`, whose parenthesis has been passed.
    fn substitution(&mut self, start: usize, kind: Kind, within: Within) -> Step {
        let outer = std::mem::take(&mut self.pending);
        self.outer_pending += outer.len();
        self.substitutions += 1;
        self.deeper(|s| s.commands(Some(start)))?;
        self.substitutions -= 1;
        self.outer_pending -= outer.len();
        if !self.pending.is_empty() {
            return Err(self.unsure(self.at - 1));
        }
        self.pending = outer;
        self.atom(kind, start, within);
        Ok(())
    }

    /// `$((`: bash looks for the parenthesis that closes it, then whether a second one follows.
    fn arithmetic_or_command(&mut self, start: usize, within: Within) -> Step {
        let first = self.pairs(b'(', b')', Within::Arithmetic)?;
        let doubled = self.bytes[..self.at].ends_with(b"))") && first == Some(self.at - 1);
        self.atom(if doubled { Kind::Arithmetic } else { Kind::Command }, start, within);
        // `bash -n` does not look at the commands in it.
        if !doubled {
            self.doubt(start..self.at);
        }
        Ok(())
    }

    pub fn pair(&mut self, open: u8, close: u8, within: Within) -> Step {
        self.pairs(open, close, within).map(|_| ())
    }

    /// Passes from `open` over everything up to the `close` that belongs to it. Returns where a second
    /// one that was open right after the first has been closed.
    fn pairs(&mut self, open: u8, close: u8, within: Within) -> Result<Option<usize>, NotBash> {
        let start = self.at;
        self.deeper(|s| {
            let mut count = 0usize;
            let mut inner = None;
            while let Some(byte) = s.peek() {
                if byte == open {
                    count += 1;
                    s.at += 1;
                } else if byte == close {
                    count -= 1;
                    s.at += 1;
                    match count {
                        0 => return Ok(inner),
                        1 if inner.is_none() => inner = Some(s.at),
                        _ => {}
                    }
                } else if byte == b'#' && within == Within::Arithmetic && s.may_be_comment() {
                    return Err(s.unsure(s.at));
                } else {
                    s.piece(byte, within)?;
                }
            }
            Err(s.unclosed(start, "this bracket"))
        })
    }

    /// Some versions of bash take `#` after a blank for a comment in arithmetic. That is of no
    /// matter where the rest of the line has nothing to be read.
    fn may_be_comment(&self) -> bool {
        let blank = matches!(self.bytes.get(self.at.wrapping_sub(1)), Some(b' ' | b'\t' | b'\n'));
        let rest = &self.bytes[self.at..self.end];
        let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
        let range = self.at..self.at + line.len();
        blank && (line.iter().any(|b| b"'\"`$()[]\\".contains(b)) || (self.exact)(&range))
    }

    /// `@(`, `?(`, `*(`, `+(`, `!(` inside or at the begin of a word.
    fn extended_pattern(&self, start: usize) -> bool {
        self.at > start && matches!(self.bytes[self.at - 1], b'?' | b'*' | b'+' | b'@' | b'!')
    }

    fn compound_assignment(&self, start: usize) -> bool {
        self.at > start && self.bytes[self.at - 1] == b'=' && self.names_variable(start)
    }

    /// Whether the word up to here is `name`, `name[…]`, `name+` or one of these with its `=`.
    fn names_variable(&self, start: usize) -> bool {
        let text = self.text[start..self.at].trim_end_matches('=').trim_end_matches('+');
        let name = match text.find('[') {
            Some(open) if text.ends_with(']') => &text[..open],
            _ => text,
        };
        is_name(name)
    }

    fn subscript_here(&self, start: usize, subscripts: Subscripts) -> bool {
        match subscripts {
            Subscripts::No => false,
            Subscripts::AfterName => is_name(&self.text[start..self.at]),
            Subscripts::Element => self.at == start,
        }
    }

    /// The elements of `name=(…)`.
    fn array(&mut self) -> Step {
        let (start, atoms) = (self.at, self.found.atoms.len());
        self.at += 1;
        self.elements(start)?;
        // In a substitution bash reads the elements a second time, without such escapes.
        let lost = |a: &Atom| {
            a.kind == Kind::Escape
                && a.within == Within::Bare
                && self.bytes[a.range.clone()].iter().any(|b| b"'\"`()|;&<>".contains(b))
        };
        if self.substitutions > 0 && self.found.atoms[atoms..].iter().any(lost) {
            self.doubt(start..self.at);
        }
        Ok(())
    }

    fn elements(&mut self, start: usize) -> Step {
        self.deeper(|s| {
            loop {
                s.blanks();
                match s.peek() {
                    Some(b')') => {
                        s.at += 1;
                        return Ok(());
                    }
                    Some(b'\n') => s.newline()?,
                    Some(b'#') => s.comment(),
                    Some(b'<' | b'>') if s.second() == Some(b'(') => {
                        s.word(Subscripts::Element)?;
                    }
                    Some(b';' | b'&' | b'|' | b'<' | b'>' | b'(') => return Err(s.unsure(s.at)),
                    Some(_) => {
                        s.word(Subscripts::Element)?;
                    }
                    None => return Err(s.unclosed(start, "this array")),
                }
            }
        })
    }

    pub fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    pub fn comment(&mut self) {
        let start = self.at;
        let rest = &self.bytes[self.at..self.end];
        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        self.atom(Kind::Comment, start, Within::Bare);
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

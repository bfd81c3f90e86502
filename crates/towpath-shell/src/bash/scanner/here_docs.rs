//! Here-documents: their delimiters in every spelling, and their bodies, which begin on the line
//! after the one that names them.

use super::words::Subscripts;
use super::{Delimiter, Kind, Scanner, Step, Within};
use crate::bash::quoting;
use std::ops::Range;

pub struct Pending {
    word: Range<usize>,
    line: String,
    quoted: bool,
    strip_tabs: bool,
}

impl Scanner<'_> {
    /// What follows `<<`.
    pub fn here_doc(&mut self) -> Step {
        let strip_tabs = self.take(b'-');
        self.blanks();
        let atoms = self.found.atoms.len();
        let word = self.word(Subscripts::No)?.range;
        let odd = |kind| !matches!(kind, Kind::Single | Kind::Double | Kind::Escape | Kind::Ansi);
        if word.is_empty() || self.found.atoms[atoms..].iter().any(|a| odd(a.kind)) {
            return Err(self.unsure(word.start));
        }
        self.found.here_doc_words.push(word.clone());
        let text = &self.text[word.clone()];
        let quoted = text.replace("\\\n", "").contains(['\'', '"', '\\']);
        let Some(line) = quoting::unquoted(text) else { return Err(self.unsure(word.start)) };
        self.found.atoms.truncate(atoms);
        self.pending.push(Pending { word, line, quoted, strip_tabs });
        Ok(())
    }

    /// A newline between tokens: the here-documents of the line follow it.
    pub fn newline(&mut self) -> Step {
        self.at += 1;
        if self.outer_pending > 0 {
            return Err(self.unsure(self.at - 1));
        }
        for pending in std::mem::take(&mut self.pending) {
            self.here_doc_body(&pending)?;
        }
        Ok(())
    }

    fn here_doc_body(&mut self, pending: &Pending) -> Step {
        let body = self.at;
        while self.at < self.end {
            let start = self.at;
            let line = self.logical_line(!pending.quoted);
            let line = if pending.strip_tabs { line.trim_start_matches('\t') } else { &line };
            if line == pending.line {
                let newline = usize::from(self.bytes[..self.at].ends_with(b"\n"));
                let end_line = self.at - newline - line.len()..self.at - newline;
                self.found.delimiters.push(Delimiter { word: pending.word.clone(), end_line });
                return self.here_doc_text(body..start, pending.quoted);
            }
            // Bash ends a here-document in a substitution here too, depending on its version.
            if self.substitutions > 0 && line.starts_with(&pending.line) && line.contains(')') {
                return Err(self.unsure(start));
            }
        }
        self.here_doc_text(body..self.end, pending.quoted)
    }

    /// The line that begins here, without its newline; lines that a backslash joins are one.
    fn logical_line(&mut self, joins: bool) -> String {
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..self.end];
            let length = rest.find('\n');
            let line = &rest[..length.unwrap_or(rest.len())];
            self.at += length.map_or(rest.len(), |l| l + 1);
            let escapes = line.bytes().rev().take_while(|b| *b == b'\\').count();
            if !joins || escapes % 2 == 0 || length.is_none() {
                out.push_str(line);
                return out;
            }
            out.push_str(&line[..line.len() - 1]);
        }
    }

    fn here_doc_text(&mut self, body: Range<usize>, quoted: bool) -> Step {
        let (after, end) = (self.at, self.end);
        if !quoted && (self.exact)(&body) {
            (self.at, self.end) = (body.start, body.end);
            while let Some(byte) = self.peek() {
                match byte {
                    b'\\' | b'`' | b'$' => self.piece(byte, Within::Double)?,
                    _ => self.at += 1,
                }
            }
        }
        (self.at, self.end) = (body.end, end);
        self.atom(Kind::HereDoc { quoted }, body.start, Within::Bare);
        self.at = after;
        Ok(())
    }
}

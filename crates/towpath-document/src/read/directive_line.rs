//! One directive: where it begins for sure, and what it means. Before that point a line is prose;
//! after it a mistake is an error.

use super::lines_and_indentation::{Line, line_at};
use crate::directive::{Defines, DirectiveKind};
use crate::interpolated::reference_at;
use crate::line_reader::LineReader;
use crate::read_error::ReadError;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span, VarPath};

/// Why a directive cannot be read, and what it would have defined.
pub(super) type Refused = (ReadError, Defines);

/// Whether a line is a directive for sure.
pub(super) fn begins_directive(content: &str) -> bool {
    let Some((word, rest)) = split_word(content) else { return false };
    let after = rest.trim_start_matches([' ', '\t']);
    let blank = after.len() < rest.len();
    match word {
        "run" => after.starts_with('[') || (blank && begins_call(after)),
        "embed" => after.starts_with('[') || embedded_value(after).is_some(),
        "import" => after.starts_with('['),
        "text" | "data" | "path" => blank && is_assignment(after, false),
        "define" => blank && is_assignment(after, true),
        _ => false,
    }
}

/// The reference that is all of what follows `@embed`.
pub(super) fn embedded_value(text: &str) -> Option<(VarPath, usize)> {
    reference_at(text, 0).filter(|(_, end)| text[*end..].trim().is_empty())
}

fn split_word(content: &str) -> Option<(&str, &str)> {
    let rest = content.strip_prefix('@')?;
    let end = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
    Some(rest.split_at(end))
}

fn begins_call(text: &str) -> bool {
    let name = text.strip_prefix('$');
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// `name =`, or `name(parameters) =`. A name that is not allowed is a mistake, not prose.
fn is_assignment(text: &str, parameters: bool) -> bool {
    let (name, rest) = text.split_at(written_name(text).len());
    let mut rest = rest.trim_start_matches([' ', '\t']);
    if parameters && let Some(list) = rest.strip_prefix('(') {
        let Some((_, after)) = list.split_once(')') else { return false };
        rest = after.trim_start_matches([' ', '\t']);
    }
    !name.is_empty() && rest.starts_with('=') && !rest.starts_with("==")
}

/// What the author wrote as a name, hyphens included.
fn written_name(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    &text[..end.unwrap_or(text.len())]
}

/// Which blocks of a document cannot end: behind one that does not end, none does. So that many of
/// them do not each look through the rest of the document.
#[derive(Debug)]
pub(super) struct UnclosedBlocks {
    /// No line from here on is only `]]`.
    from: usize,
}

impl Default for UnclosedBlocks {
    fn default() -> UnclosedBlocks {
        UnclosedBlocks { from: usize::MAX }
    }
}

pub(super) struct DirectiveReader<'a> {
    pub text: &'a str,
    pub source: &'a Arc<Source>,
    pub line: LineReader<'a>,
    /// Warnings about the commands, for the author.
    pub warnings: Vec<Diagnostic>,
    last: Line,
    unclosed: &'a mut UnclosedBlocks,
}

impl<'a> DirectiveReader<'a> {
    /// `start` is the directive's `@`.
    pub fn new(
        text: &'a str,
        line: &Line,
        start: usize,
        source: &'a Arc<Source>,
        unclosed: &'a mut UnclosedBlocks,
    ) -> Self {
        let reader = LineReader::new(text, start, line.text_end);
        let warnings = Vec::new();
        DirectiveReader { text, source, line: reader, warnings, last: *line, unclosed }
    }

    /// The last line of the directive, once it is read.
    pub fn last_line(&self) -> Line {
        self.last
    }

    pub fn read(&mut self) -> Result<DirectiveKind, Refused> {
        let word = split_word(self.line.rest()).map_or("", |(word, _)| word);
        self.line.at += word.len() + 1;
        self.line.skip_blanks();
        match word {
            "run" => self.invocation().map(DirectiveKind::Run).map_err(nothing),
            "embed" => self.embed_directive().map_err(nothing),
            "import" => self.import_directive().map_err(nothing),
            "define" => self.define_directive(),
            word => self.value_directive(word),
        }
    }

    /// The name before a `=`.
    pub fn assigned_name(&mut self) -> Result<&'a str, ReadError> {
        let start = self.line.at;
        let written = written_name(self.line.rest());
        match self.line.name().filter(|name| name.len() == written.len()) {
            Some(name) => Ok(name),
            None => {
                let span = Span { start, end: start + written.len() };
                let message = format!("`{written}` cannot be a name");
                let help = "a name has letters, digits and _, and begins with no digit";
                Err(ReadError::new(span, message).help(help))
            }
        }
    }

    pub fn take_equals(&mut self) {
        self.line.skip_blanks();
        self.line.take("=");
        self.line.skip_blanks();
    }

    /// The lines between a `[[` that ends its line and a line that is only `]]`.
    pub fn block(&mut self, open: usize) -> Result<Span, ReadError> {
        let start = self.last.end;
        let mut at = start;
        while at < self.text.len().min(self.unclosed.from) {
            let line = line_at(self.text, at);
            if self.text[line.start..line.text_end].trim_matches([' ', '\t']) == "]]" {
                self.last = line;
                // The newlines after `[[` and before `]]` belong to the brackets.
                let content = &self.text[start..line.start];
                let content = content.strip_suffix('\n').unwrap_or(content);
                let content = content.strip_suffix('\r').unwrap_or(content);
                return Ok(Span { start, end: start + content.len() });
            }
            at = line.end;
        }
        self.unclosed.from = self.unclosed.from.min(start);
        let help = "end it with a line that is only ]]";
        let span = Span { start: open, end: open + 2 };
        Err(ReadError::new(span, "`[[` is not closed").help(help))
    }

    /// Whether the line ends with the `[[` that the reader is at.
    pub fn at_block(&self) -> bool {
        self.line.rest().strip_prefix("[[").is_some_and(|rest| rest.trim().is_empty())
    }

    /// The directive ends on the line of this offset.
    pub fn continue_to(&mut self, end: usize) {
        let start = self.text[..end].rfind('\n').map_or(0, |newline| newline + 1);
        self.last = line_at(self.text, start);
        self.line = LineReader::new(self.text, end, self.last.text_end);
    }
}

fn nothing(error: ReadError) -> Refused {
    (error, Defines::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_has_its_fixed_shape() {
        for line in [
            "@run [x]",
            "@run[x]",
            "@run $x",
            "@run [",
            "@embed [a]",
            "@embed[a]",
            "@embed {{a}}",
            "@embed {{ a.b }} ",
            "@import [a]",
            "@text a =",
            "@text a=1",
            "@data a = {",
            "@path a = 'x'",
            "@define a = x",
            "@define a(b, c) = x",
            "@define a () =",
            "@text a-b = 'x'",
        ] {
            assert!(begins_directive(line), "{line}");
        }
        for line in [
            "@run is nice",
            "@run",
            "@run $5",
            "@run$x",
            "@runner [x]",
            "@text me later",
            "@text a",
            "@import 'a.css'",
            "@define a",
            "@define a( = b",
            "@text a == b",
            "@path /x = y",
            "@Run [x]",
            "@",
            "@user",
            "@define a.about = 'x'",
            "run [x]",
            "@embed a",
            "@embed {{a}} b",
        ] {
            assert!(!begins_directive(line), "{line}");
        }
    }
}

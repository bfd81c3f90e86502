//! `@define name(parameters) = body`.

use super::directive_line::{DirectiveReader, Refused};
use crate::directive::{Defines, Definition, DirectiveKind, Invocation};
use crate::interpolated::{Piece, reference_at};
use crate::read_error::ReadError;
use std::collections::HashSet;
use std::sync::Arc;
use towpath_core::Span;

impl DirectiveReader<'_> {
    pub fn define_directive(&mut self) -> Result<DirectiveKind, Refused> {
        let head = self.line.span_to_end();
        let name = self.assigned_name().map_err(|error| (error, Defines::Nothing))?.to_owned();
        match self.definition(name.clone(), head) {
            Ok(definition) => Ok(DirectiveKind::Define(Arc::new(definition))),
            Err(error) => Err((error, Defines::Command(name))),
        }
    }

    fn definition(&mut self, name: String, head: Span) -> Result<Definition, ReadError> {
        self.line.skip_blanks();
        let parameters = if self.line.take("(") { Some(self.parameters()?) } else { None };
        self.take_equals();
        let body = self.body()?;
        Ok(Definition { name, parameters, body, source: Arc::clone(self.source), head })
    }

    fn parameters(&mut self) -> Result<Vec<String>, ReadError> {
        let mut names: Vec<String> = Vec::new();
        let mut known = HashSet::new();
        let list = self.line.rest().split_once(')').map_or("", |(list, _)| list);
        let mut at = self.line.at;
        self.line.at += list.len() + 1;
        if list.trim().is_empty() {
            return Ok(names);
        }
        for written in list.split(',') {
            let name = written.trim();
            let start = at + written.len() - written.trim_start().len();
            let span = Span { start, end: start + name.len().max(1) };
            at += written.len() + 1;
            if !is_name(name) {
                let message = format!("`{name}` cannot be the name of a parameter");
                return Err(ReadError::new(span, message));
            }
            if !known.insert(name) {
                return Err(ReadError::new(span, format!("duplicate parameter `{name}`")));
            }
            names.push(name.to_owned());
        }
        Ok(names)
    }

    fn body(&mut self) -> Result<Invocation, ReadError> {
        let start = self.line.at;
        let span = self.line.span_to_end();
        let written = &self.text[span.range()];
        match self.line.peek() {
            Some(b'@') => {
                let is_run =
                    self.line.take("@run") && !self.line.rest().starts_with(char::is_alphanumeric);
                self.line.skip_blanks();
                if is_run && matches!(self.line.peek(), Some(b'[' | b'$')) {
                    return self.invocation();
                }
                let message = match is_run {
                    true => format!("Invalid @run command format in definition: {written}"),
                    false => format!("Cannot execute non-run directive as command: {written}"),
                };
                Err(ReadError::new(span, message)
                    .help("a definition is @run [command], or @run $other(…)"))
            }
            Some(b'[') => self.bracketed(),
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                let inside = self.string_source()?;
                if inside.trim().is_empty() {
                    return Err(ReadError::new(span, "the command is empty"));
                }
                self.line.expect_end("the string")?;
                let whole = self.line.span_from(start);
                self.shell_command(&inside, whole, false, quote != b'\'').map(Invocation::Shell)
            }
            _ => {
                let help =
                    "a definition is @run [command], @run $other(…), or a command as a string";
                Err(ReadError::new(span, "expected what the command runs").help(help))
            }
        }
    }

    /// The text of a string in which references stay as they are written, for the command to take.
    fn string_source(&mut self) -> Result<String, ReadError> {
        let pieces = self.line.quoted()?.pieces.into_iter().map(|piece| match piece {
            Piece::Text(text) => escaped(&text),
            Piece::Reference { span, .. } => self.text[span.range()].to_owned(),
        });
        Ok(pieces.collect())
    }
}

/// A literal `{{name}}`, as a command writes it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices('{') {
        if reference_at(text, at).is_some() {
            out.push_str(&text[from..at]);
            out.push('\\');
            from = at;
        }
    }
    out + &text[from..]
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

//! What runs: a command in brackets, or a call of a defined command.

use super::directive_line::DirectiveReader;
use crate::directive::{Call, Invocation, ShellCommand};
use crate::line_reader::LineReader;
use crate::read_error::ReadError;
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Diagnostic, PlaceholderSyntax, Severity, Span};
use towpath_shell::{ShellError, ShellText};

impl DirectiveReader<'_> {
    /// What follows `@run`.
    pub fn invocation(&mut self) -> Result<Invocation, ReadError> {
        if self.line.peek() == Some(b'[') {
            return self.bracketed();
        }
        let call = self.call()?;
        self.line.expect_end("the call")?;
        Ok(Invocation::Call(call))
    }

    /// `[command]`, `[[command]]`, or the lines of a block.
    pub fn bracketed(&mut self) -> Result<Invocation, ReadError> {
        let open = self.line.at;
        if self.at_block() {
            let span = self.block(open)?;
            return self.command(span.range(), open).map(Invocation::Shell);
        }
        let inside = self.inside_brackets()?;
        match whole_call(self.text, &inside) {
            Some(Ok((call, true))) => return Ok(Invocation::Call(call)),
            Some(Ok((call, false))) => {
                let shell = self.command(inside, open)?;
                return Ok(Invocation::CallOrShell(call, shell));
            }
            Some(Err(error)) => return Err(error),
            None => {}
        }
        self.command(inside, open).map(Invocation::Shell)
    }

    /// The range between brackets on one line. The last `]` of the line closes.
    pub fn inside_brackets(&mut self) -> Result<Range<usize>, ReadError> {
        let open = self.line.at;
        let line = self.line.rest().trim_end();
        let Some(close) = line.rfind(']') else {
            let help = "close it with ] on the same line, or write [[ and ]] on lines of their own";
            let span = self.line.span_to_end();
            return Err(ReadError::new(span, "`[` is not closed on its line").help(help));
        };
        // Of `[[[ a == b ]]]` the outer pair are the brackets: bash has a test inside of them.
        let test = line.starts_with("[[[ ") && line.ends_with(" ]]]");
        let double = line.starts_with("[[") && line.ends_with("]]") && close >= 3 && !test;
        let width = if double { 2 } else { 1 };
        self.line.at = open + close + 1;
        self.line.expect_end("]")?;
        Ok(open + width..open + close + 1 - width)
    }

    /// The command of a range of the document.
    pub fn command(&mut self, range: Range<usize>, open: usize) -> Result<ShellCommand, ReadError> {
        let written = &self.text[range.clone()];
        let start = range.start + written.len() - written.trim_start().len();
        let span = Span { start, end: start + written.trim().len() };
        if written.trim().is_empty() {
            return Err(ReadError::new(
                Span { start: open, end: open + 1 },
                "the command is empty",
            ));
        }
        let text = self.text[span.range()].replace("\r\n", "\n");
        let verbatim = text.len() == span.end - span.start;
        self.shell_command(&text, span, verbatim, true)
    }

    /// `references`: whether `{{name}}` is one.
    pub fn shell_command(
        &mut self,
        text: &str,
        span: Span,
        verbatim: bool,
        references: bool,
    ) -> Result<ShellCommand, ReadError> {
        if let Some(at) = text.find('\0') {
            let start = if verbatim { span.start + at } else { span.start };
            let span = Span { start, end: start + 1 };
            return Err(ReadError::new(span, "a command cannot contain a NUL byte"));
        }
        let parsed = ShellText::parse_as(text, PlaceholderSyntax::Document, &|_| references);
        let refused = |error: ShellError| {
            let located = match verbatim {
                true => Span {
                    start: span.start + error.range.start,
                    end: span.start + error.range.end,
                },
                false => self.source.first_line(span),
            };
            let help = error.help;
            ReadError { span: located, message: error.message, help }
        };
        let command = ShellCommand { text: Arc::new(parsed.map_err(refused)?), span, verbatim };
        for warning in command.text.warnings() {
            let severity = if warning.note { Severity::Note } else { Severity::Warning };
            let at = self.source.first_line(command.locate(warning.range.clone()));
            let mut problem = Diagnostic::new(severity, warning.code, warning.message.clone());
            problem.help.clone_from(&warning.help);
            self.warnings.push(problem.at(self.source, at, ""));
        }
        Ok(command)
    }

    /// `$name(arguments)`; the reader is at the `$`.
    pub fn call(&mut self) -> Result<Call, ReadError> {
        read_call(&mut self.line)
    }
}

fn read_call(line: &mut LineReader<'_>) -> Result<Call, ReadError> {
    let start = line.at;
    let name = if line.take("$") { line.name() } else { None };
    let Some(name) = name else {
        return Err(ReadError::new(line.span_to_end(), "expected a call such as $name(arguments)"));
    };
    let name = name.to_owned();
    let arguments = if line.take("(") { line.arguments()? } else { Vec::new() };
    Ok(Call { name, arguments, span: line.span_from(start) })
}

/// The call that the text in brackets is as a whole, and whether it has a list of arguments.
fn whole_call(text: &str, inside: &Range<usize>) -> Option<Result<(Call, bool), ReadError>> {
    let written = text[inside.clone()].trim_end();
    let start = inside.start + written.len() - written.trim_start().len();
    let end = inside.start + written.len();
    let mut line = LineReader::new(text, start, end);
    if !line.take("$") || line.name().is_none() {
        return None;
    }
    match line.peek() {
        None => {}
        Some(b'(') if written.ends_with(')') => {}
        _ => return None,
    }
    let listed = line.peek().is_some();
    line.at = start;
    let call = read_call(&mut line).and_then(|call| {
        line.expect_end("the call")?;
        Ok((call, listed))
    });
    Some(call)
}

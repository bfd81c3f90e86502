//! `@text`, `@data` and `@path`: a name and its value.

use super::directive_line::{DirectiveReader, Refused};
use crate::directive::{DataValue, Defines, DirectiveKind, FileTarget, Invocation, TextValue};
use crate::interpolated::Interpolated;
use crate::read_error::ReadError;
use towpath_core::{Span, Value};

/// A value that comes from elsewhere.
enum Outside {
    Run(Invocation),
    Embed(FileTarget),
}

impl DirectiveReader<'_> {
    /// `word` is the directive's.
    pub fn value_directive(&mut self, word: &str) -> Result<DirectiveKind, Refused> {
        let name = self.assigned_name().map_err(|error| (error, Defines::Nothing))?.to_owned();
        self.take_equals();
        let read = match word {
            "text" => {
                self.text_value().map(|value| DirectiveKind::Text { name: name.clone(), value })
            }
            "data" => {
                self.data_value().map(|value| DirectiveKind::Data { name: name.clone(), value })
            }
            _ => {
                self.string("a path").map(|value| DirectiveKind::Path { name: name.clone(), value })
            }
        };
        read.map_err(|error| (error, Defines::Variable(name)))
    }

    fn text_value(&mut self) -> Result<TextValue, ReadError> {
        if let Some(outside) = self.outside()? {
            return Ok(match outside {
                Outside::Run(run) => TextValue::Run(run),
                Outside::Embed(file) => TextValue::Embed(file),
            });
        }
        if self.at_block() {
            let span = self.block(self.line.at)?;
            return Ok(TextValue::Written(Interpolated::of_block(self.text, span.range())));
        }
        if self.line.rest().starts_with("[[") {
            let inside = self.inside_brackets()?;
            return Ok(TextValue::Written(Interpolated::of_block(self.text, inside)));
        }
        self.string("a value").map(TextValue::Written)
    }

    /// One string, or several that are joined by `++`.
    fn string(&mut self, what: &str) -> Result<Interpolated, ReadError> {
        let mut joined: Option<Interpolated> = None;
        loop {
            if !matches!(self.line.peek(), Some(b'"' | b'\'' | b'`')) {
                let message = format!("expected {what} in quotes");
                return Err(ReadError::new(self.line.span_to_end(), message));
            }
            let string = self.line.quoted()?;
            match &mut joined {
                Some(joined) => joined.append(string),
                None => joined = Some(string),
            }
            self.line.skip_blanks();
            if !self.line.take("++") {
                self.line.expect_end("the string")?;
                return Ok(joined.unwrap_or_default());
            }
            self.line.skip_blanks();
        }
    }

    fn data_value(&mut self) -> Result<DataValue, ReadError> {
        if let Some(outside) = self.outside()? {
            return Ok(match outside {
                Outside::Run(run) => DataValue::Run(run),
                Outside::Embed(file) => DataValue::Embed(file),
            });
        }
        let start = self.line.at;
        let mut values =
            serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let end = start + values.byte_offset();
                self.continue_to(end);
                self.line.expect_end("the JSON value")?;
                Ok(DataValue::Written(value))
            }
            Some(Err(error)) => {
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default();
                let span = self.json_span(start, error.line(), error.column());
                Err(ReadError::new(span, format!("invalid JSON: {message}")))
            }
            None => Err(ReadError::new(self.line.span_to_end(), "expected a JSON value")),
        }
    }

    /// Where `serde_json` stopped: line and column count from the value's beginning.
    fn json_span(&self, start: usize, line: usize, column: usize) -> Span {
        let before: usize = self.text[start..]
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        let mut at = (start + before + column.saturating_sub(1)).min(self.text.len());
        // A value that is not closed ends with the document: the line where it begins helps more.
        if line > 1 && at + 1 >= self.text.len() {
            at = start;
        }
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        self.source.line_from(at)
    }

    /// `@run …` or `@embed …` as a value.
    fn outside(&mut self) -> Result<Option<Outside>, ReadError> {
        if self.line.peek() != Some(b'@') {
            return Ok(None);
        }
        let span = self.line.span_to_end();
        if self.line.take("@run") {
            self.line.skip_blanks();
            if matches!(self.line.peek(), Some(b'[' | b'$')) {
                return self.invocation().map(|run| Some(Outside::Run(run)));
            }
        } else if self.line.take("@embed") {
            self.line.skip_blanks();
            if self.line.peek() == Some(b'[') {
                return self.file_target().map(|file| Some(Outside::Embed(file)));
            }
        }
        let help = "a value is written, or @run [command], @run $name(…), or @embed [file]";
        Err(ReadError::new(span, "unexpected directive as a value").help(help))
    }
}

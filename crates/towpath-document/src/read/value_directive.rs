//! `@text`, `@data` and `@path`: a name and its value.

use super::data_template::DataReader;
use super::directive_line::{DirectiveReader, Refused, embedded_value};
use crate::directive::{
    DataTemplate, DataValue, Defines, DirectiveKind, FileTarget, Invocation, TextValue,
};
use crate::interpolated::{Interpolated, reference_at};
use crate::read_error::ReadError;
use towpath_core::Value;

/// A value that comes from elsewhere.
enum Outside {
    Run(Invocation),
    Embed(FileTarget),
    /// Of `@embed {{name}}`.
    Value(Interpolated),
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
                Outside::Value(value) => TextValue::Written(value),
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
            let string = match self.line.peek() {
                Some(b'"' | b'\'' | b'`') => self.line.quoted()?,
                // A reference is a string of its own, where it is joined with others.
                Some(b'{') if reference_at(self.text, self.line.at).is_some() => {
                    self.line.reference()
                }
                _ => {
                    let message = format!("expected {what} in quotes");
                    return Err(ReadError::new(self.line.span_to_end(), message));
                }
            };
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
                Outside::Value(value) => DataValue::Template(DataTemplate::of_reference(value)),
            });
        }
        let start = self.line.at;
        let mut values =
            serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) if !self.text[start..start + values.byte_offset()].contains("{{") => {
                self.continue_to(start + values.byte_offset());
                self.line.expect_end("the JSON value")?;
                Ok(DataValue::Written(value))
            }
            None => Err(ReadError::new(self.line.span_to_end(), "expected a JSON value")),
            Some(_) => self.data_template(start),
        }
    }

    fn data_template(&mut self, start: usize) -> Result<DataValue, ReadError> {
        let mut reader = DataReader { text: self.text, at: start, depth: 0 };
        match reader.value() {
            Ok(value) => {
                self.continue_to(reader.at);
                self.line.expect_end("the JSON value")?;
                Ok(DataValue::Template(value))
            }
            Err((at, message)) => {
                // A value that is not closed ends with the document: where it begins helps more.
                let at = if at >= self.text.trim_end().len() { start } else { at };
                Err(ReadError::new(self.source.line_from(at), format!("invalid JSON: {message}")))
            }
        }
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
            if embedded_value(self.line.rest()).is_some() {
                return Ok(Some(Outside::Value(self.whole_reference())));
            }
        }
        let help = "a value is written, or @run [command], @run $name(…), or @embed [file]";
        Err(ReadError::new(span, "unexpected directive as a value").help(help))
    }
}

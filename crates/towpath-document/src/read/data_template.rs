//! The JSON of `@data` where it has more than JSON: references as values and in strings, keys without
//! quotes, and Meld's double braces, `{{ key: "value" }}`.

use crate::directive::DataTemplate;
use crate::interpolated::{Interpolated, Piece, reference_at};
use towpath_core::Span;

/// How many lists and objects may be inside of each other, as `serde_json` has it.
const DEEPEST: usize = 127;

/// Where the value is wrong, and why.
type Wrong = (usize, &'static str);

pub(super) struct DataReader<'a> {
    pub text: &'a str,
    pub at: usize,
    pub depth: usize,
}

impl DataReader<'_> {
    pub fn value(&mut self) -> Result<DataTemplate, Wrong> {
        self.skip_blanks();
        if self.depth > DEEPEST {
            return Err((self.at, "recursion limit exceeded"));
        }
        self.depth += 1;
        let value = match self.peek() {
            Some(b'{') => self.braces(),
            Some(b'[') => self.list(),
            Some(b'"') => self.string().map(DataTemplate::Text),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let found = self.text[self.at..].starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn skip_blanks(&mut self) {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t', '\n', '\r']);
        self.at = self.text.len() - rest.len();
    }

    /// A reference, or an object.
    fn braces(&mut self) -> Result<DataTemplate, Wrong> {
        let start = self.at;
        if let Some((path, end)) = reference_at(self.text, start) {
            self.at = end;
            return Ok(DataTemplate::Reference { path, span: Span { start, end } });
        }
        let close = if self.take("{{") { "}}" } else { "}" };
        self.at = self.at.max(start + 1);
        let mut entries = Vec::new();
        if self.take(close) {
            return Ok(DataTemplate::Object(entries));
        }
        loop {
            let key = self.key()?;
            if !self.take(":") {
                return Err((self.at, "expected `:`"));
            }
            entries.push((key, self.value()?));
            if self.take(close) {
                return Ok(DataTemplate::Object(entries));
            }
            if !self.take(",") {
                return Err((self.at, "expected `,` or `}`"));
            }
        }
    }

    fn list(&mut self) -> Result<DataTemplate, Wrong> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take("]") {
            return Ok(DataTemplate::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.take("]") {
                return Ok(DataTemplate::List(items));
            }
            if !self.take(",") {
                return Err((self.at, "expected `,` or `]`"));
            }
        }
    }

    /// A string, or a name without quotes.
    fn key(&mut self) -> Result<Interpolated, Wrong> {
        self.skip_blanks();
        if self.peek() == Some(b'"') {
            return self.string();
        }
        let (start, rest) = (self.at, &self.text[self.at..]);
        let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let length = rest.find(|c: char| !in_name(c)).unwrap_or(rest.len());
        self.at += length;
        match length {
            0 => Err((start, "key must be a string")),
            _ => Ok(Interpolated::plain(&rest[..length], Span { start, end: self.at })),
        }
    }

    /// A JSON string. In it `\\{{` is a literal `{{`.
    fn string(&mut self) -> Result<Interpolated, Wrong> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.text.as_bytes().get(end) {
                None => return Err((start, "EOF while parsing a string")),
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        let Ok(text) = serde_json::from_str::<String>(&self.text[start..self.at]) else {
            return Err((start, "invalid escape or control character in a string"));
        };
        let mut found = Interpolated::of_block(&text, 0..text.len());
        found.span = Span { start, end: self.at };
        for piece in &mut found.pieces {
            if let Piece::Reference { span, .. } = piece {
                *span = found.span;
            }
        }
        Ok(found)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<DataTemplate, Wrong> {
        let (start, rest) = (self.at, &self.text[self.at..]);
        let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        self.at += rest.find(|c: char| !in_word(c)).unwrap_or(rest.len());
        let value = serde_json::from_str(&self.text[start..self.at]);
        value.map(DataTemplate::Value).map_err(|_| (start, "expected value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, Wrong> {
        let mut reader = DataReader { text, at: 0, depth: 0 };
        reader.value().map(|value| format!("{value:?} {}", reader.at))
    }

    #[test]
    fn every_form_is_read_to_its_end() {
        for text in [
            "{}",
            "{{}}",
            "{{ a: 1 }}",
            "{a-b: [1.50, null, \"x\"]}",
            "{\"k\": {{n}}}",
            "{\"k\": \"a {{n}} b\"}",
            "[{{a.b}}, {{c[0]}}]",
            "{{ a: {b: {{c}}} }}",
            "\"\\u00e9\"",
        ] {
            assert!(
                read(text).is_ok_and(|read| read.ends_with(&format!(" {}", text.len()))),
                "{text}"
            );
        }
        for text in
            ["{a: }", "{a 1}", "{a: 1", "[1", "\"a", "{{a: 1}", "{,}", "[1 2]", "x", "", "\"\\"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}

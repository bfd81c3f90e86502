//! Text with `{{name}}` placeholders. Parsed once; rendering never looks for placeholders in a value.

use crate::placeholder_syntax::PlaceholderSyntax;
use crate::{Map, Value, VarPath, lookup, text_of};
use std::ops::Range;

/// One `{{name}}` in a text, with its byte range there, braces included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    pub path: VarPath,
    pub range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Placeholder(Placeholder),
}

/// A text with its placeholders found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

impl Template {
    /// Never fails: what is not a placeholder is text. An odd number of backslashes before a
    /// placeholder makes it text and loses one; an even number stays, and so does the placeholder.
    pub fn parse(text: &str) -> Template {
        Template::parse_where(text, |_| true)
    }

    /// As `parse`, but what `known` does not know is text too, with its backslashes.
    pub fn parse_where(text: &str, known: impl Fn(&VarPath) -> bool) -> Template {
        Template::parse_as(text, PlaceholderSyntax::Recipe, known)
    }

    /// As `parse_where`, for text that writes its placeholders in another way.
    pub fn parse_as(
        text: &str,
        syntax: PlaceholderSyntax,
        known: impl Fn(&VarPath) -> bool,
    ) -> Template {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(found) = text[at..].find("{{").map(|i| at + i) {
            let placeholder = syntax.placeholder_at(text, found).filter(|(path, _)| known(path));
            let Some((path, end)) = placeholder else {
                literal.push_str(&text[at..found + 1]);
                at = found + 1;
                continue;
            };
            literal.push_str(&text[at..found]);
            let slashes = text[..found].bytes().rev().take_while(|b| *b == b'\\').count();
            if slashes % 2 == 1 {
                literal.pop();
                literal.push_str(&text[found..end]);
            } else {
                if !literal.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut literal)));
                }
                parts.push(Part::Placeholder(Placeholder { path, range: found..end }));
            }
            at = end;
        }
        literal.push_str(&text[at..]);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Template { source: text.to_owned(), parts }
    }

    /// The text as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.parts.iter().filter_map(|p| match p {
            Part::Placeholder(placeholder) => Some(placeholder),
            Part::Text(_) => None,
        })
    }

    /// The placeholder, if the whole text is one placeholder and nothing else.
    pub fn only_placeholder(&self) -> Option<&Placeholder> {
        match self.parts.as_slice() {
            [Part::Placeholder(placeholder)] => Some(placeholder),
            _ => None,
        }
    }

    /// Plain text rendering, for prompts, prose and file names. Undefined is empty.
    pub fn render(&self, scope: &Map) -> String {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Placeholder(placeholder) => {
                    if let Some(value) = lookup(scope, &placeholder.path) {
                        out.push_str(&text_of(value));
                    }
                }
            }
        }
        out
    }

    /// Rendering for a value: exactly one placeholder keeps its type, other text becomes a string.
    pub fn render_value(&self, scope: &Map) -> Value {
        match self.only_placeholder() {
            Some(placeholder) => lookup(scope, &placeholder.path).cloned().unwrap_or(Value::Null),
            None => Value::String(self.render(scope)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(text: &str) -> String {
        Template::parse(text)
            .parts()
            .iter()
            .map(|p| match p {
                Part::Text(t) => format!("[{t}]"),
                Part::Placeholder(p) => format!("<{}>", p.path),
            })
            .collect()
    }

    #[test]
    fn placeholders_and_text() {
        for (text, expected) in [
            ("a {{v}} b", "[a ]<v>[ b]"),
            ("{{ v }}{{a.b-c}}", "<v><a.b-c>"),
            ("{{.Names}}", "[{{.Names}}]"),
            ("{{{v}}}", "[{]<v>[}]"),
            ("${{v}}", "[$]<v>"),
            (r"\{{v}}", "[{{v}}]"),
            (r"\\{{v}}", r"[\\]<v>"),
            (r"\\\{{v}}", r"[\\{{v}}]"),
            (r"\{{.x}}", r"[\{{.x}}]"),
            ("{{v", "[{{v]"),
            ("{{a b}} {{c}}", "[{{a b}} ]<c>"),
            ("{{}}", "[{{}}]"),
            ("", ""),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_stays_as_it_is_written() {
        let text = r"{{a}} {{ b }} \{{b}} \{{a}} \\{{b}}";
        let template = Template::parse_where(text, |path| path.as_str() == "a");
        let scope = Map::from_iter([("a".to_owned(), Value::from("1"))]);
        assert_eq!(template.render(&scope), r"1 {{ b }} \{{b}} {{a}} \\{{b}}");
        assert_eq!(template.source(), text);
    }

    /// Each would take minutes if a part of the text were read once for each of its braces.
    #[test]
    fn a_long_text_is_read_once() {
        for piece in ["{{", "{{a", "{{ ", "{{a.b {", "\\{{", "{{a}", "{{v}}", "\\{{v}}"] {
            let text = piece.repeat(1_000_000 / piece.len());
            let found = Template::parse(&text).placeholders().count();
            let expected = if piece == "{{v}}" { text.len() / piece.len() } else { 0 };
            assert_eq!(found, expected, "{piece}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_ranges_are_true(text in "[a{} .\\\\\n\u{e9}-]{0,40}") {
            for placeholder in Template::parse(&text).placeholders() {
                prop_assert!(text[placeholder.range.clone()].starts_with("{{"));
                prop_assert!(text[placeholder.range.clone()].ends_with("}}"));
            }
        }
    }
}

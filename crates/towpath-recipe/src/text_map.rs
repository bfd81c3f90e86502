//! Where each character of a decoded YAML scalar is in the file. YAML takes away indentation,
//! folds lines and decodes escapes; an error inside such a text must still put its caret under the
//! character that its author wrote. It never decodes by itself: it only lines up the two texts, and
//! where they do not line up it answers with the scalar's beginning.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use towpath_core::spanned_tree::Node;
use towpath_core::{Source, Span};

/// The two texts are lined up when the first location is asked for: most texts have no error.
#[derive(Debug, Clone)]
pub(crate) struct TextMap {
    source: Arc<Source>,
    /// The scalar in the file.
    span: Span,
    /// The text that YAML made of it.
    text: String,
    /// For each byte of the decoded text what it was made of, counted from the scalar's start. None:
    /// the texts do not line up.
    origins: OnceLock<Option<Vec<Range<u32>>>>,
}

impl TextMap {
    /// `text` is the decoded text of the scalar `node`.
    pub fn of(node: &Node, source: &Arc<Source>, text: &str) -> TextMap {
        TextMap::new(source, node.defined, text)
    }

    /// `span` is the scalar in the file, `text` what YAML made of it.
    pub fn new(source: &Arc<Source>, span: Span, text: &str) -> TextMap {
        let (source, text) = (Arc::clone(source), text.to_owned());
        TextMap { source, span, text, origins: OnceLock::new() }
    }

    pub fn locate(&self, range: Range<usize>) -> Span {
        let raw = self.source.text.get(self.span.range()).unwrap_or("");
        let Some(origins) = self.origins.get_or_init(|| origins(raw, &self.text)) else {
            let first_line = raw.find('\n').unwrap_or(raw.len());
            return Span { start: self.span.start, end: self.span.start + first_line };
        };
        let of = |index: usize| origins.get(index).or(origins.last()).cloned().unwrap_or(0..0);
        let start = match origins.get(range.start) {
            Some(origin) => origin.start,
            None => of(range.start).end,
        };
        let end = if range.is_empty() { start } else { of(range.end - 1).end.max(start) };
        let begin = self.span.start;
        Span { start: begin + start as usize, end: begin + end as usize }
    }
}

fn origins(raw: &str, text: &str) -> Option<Vec<Range<u32>>> {
    let styles = [Style::Lines, Style::SingleQuoted, Style::DoubleQuoted];
    styles.into_iter().find_map(|style| align(raw, text, style))
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Plain and block scalars: the same characters, only white space differs.
    Lines,
    SingleQuoted,
    DoubleQuoted,
}

fn align(raw: &str, text: &str, style: Style) -> Option<Vec<Range<u32>>> {
    u32::try_from(raw.len()).ok()?;
    let mut origins = Vec::with_capacity(text.len());
    let mut at = match style {
        Style::Lines => 0,
        Style::SingleQuoted => raw.starts_with('\'').then_some(1)?,
        Style::DoubleQuoted => raw.starts_with('"').then_some(1)?,
    };
    for wanted in text.chars() {
        at = skip_to(raw, at, wanted, style)?;
        let taken = consumed(&raw[at..], wanted, style);
        for byte in 0..wanted.len_utf8() {
            let copied = taken == wanted.len_utf8();
            let origin = if copied { at + byte..at + byte + 1 } else { at..at + taken };
            origins.push(origin.start as u32..origin.end as u32);
        }
        at += taken;
    }
    Some(origins)
}

/// Where `wanted` is, from `at` on, over white space that YAML took away.
fn skip_to(raw: &str, mut at: usize, wanted: char, style: Style) -> Option<usize> {
    loop {
        let rest = &raw[at..];
        let Some(next) = rest.chars().next() else {
            return is_blank(wanted).then_some(at);
        };
        if style == Style::DoubleQuoted && next == '\\' {
            match continued_line(rest) {
                Some(skipped) => at += skipped,
                None => return Some(at),
            }
        } else if next == wanted {
            return Some(at);
        } else if is_blank(next) {
            at += next.len_utf8();
        } else {
            // A line break that was folded into a space has been passed already.
            return is_blank(wanted).then_some(at);
        }
    }
}

/// The only characters that YAML takes away or changes outside of escapes.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

/// The length of a backslash with the line break after it, which mean nothing.
fn continued_line(rest: &str) -> Option<usize> {
    ["\\\n", "\\\r\n"].iter().find(|s| rest.starts_with(**s)).map(|s| s.len())
}

/// How many bytes of the file make up `wanted`; 0 when it is a space made of a line break.
fn consumed(rest: &str, wanted: char, style: Style) -> usize {
    match rest.chars().next() {
        Some('\\') if style == Style::DoubleQuoted => escape_length(rest, wanted),
        // A quote is written twice; alone it ends the scalar, and the two texts are not one.
        Some('\'') if style == Style::SingleQuoted && wanted == '\'' => {
            if rest.starts_with("''") {
                2
            } else {
                1
            }
        }
        Some(next) if next == wanted => next.len_utf8(),
        _ => 0,
    }
}

fn escape_length(rest: &str, decoded: char) -> usize {
    let length = match rest.as_bytes().get(1) {
        Some(b'x') => 4,
        Some(b'U') => 10,
        // JSON writes characters beyond the basic plane as two escapes.
        Some(b'u') if decoded as u32 > 0xFFFF => 12,
        Some(b'u') => 6,
        _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
    };
    let mut length = length.min(rest.len());
    while !rest.is_char_boundary(length) {
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text of the file where `needle` is in the decoded text.
    fn found(raw: &str, text: &str, needle: &str) -> String {
        let file = format!("key: {raw}");
        let map =
            TextMap::new(&Source::new("file", &*file), Span { start: 5, end: file.len() }, text);
        let start = text.find(needle).unwrap();
        file[map.locate(start..start + needle.len()).range()].to_owned()
    }

    #[test]
    fn every_style_of_scalar_maps_back() {
        for (raw, text, needle, expected) in [
            ("echo {{x}}", "echo {{x}}", "{{x}}", "{{x}}"),
            ("echo a\n      é {{x}}\n    ", "echo a\né {{x}}\n", "{{x}}", "{{x}}"),
            ("a\n        {{x}} b\n", "a\n  {{x}} b\n", "{{x}} b", "{{x}} b"),
            ("a ==\n      b\n", "a == b", "b", "b"),
            ("'it''s {{x}}'", "it's {{x}}", "{{x}}", "{{x}}"),
            ("'it''s {{x}}'", "it's {{x}}", "'s", "''s"),
            (r#""a \"q\" {{x}}""#, "a \"q\" {{x}}", "{{x}}", "{{x}}"),
            (r#""\u00e9\U0001F600\ud83d\ude00 {{x}}""#, "é😀😀 {{x}}", "{{x}}", "{{x}}"),
            ("\"a \\\n   b {{x}}\"", "a b {{x}}", "{{x}}", "{{x}}"),
            ("\"a\n   b {{x}}\"", "a b {{x}}", "{{x}}", "{{x}}"),
            ("\"quoted\" line\n  {{x}}\n", "\"quoted\" line\n{{x}}\n", "{{x}}", "{{x}}"),
            ("one\r\n  {{x}}\r\n", "one\n{{x}}\n", "{{x}}", "{{x}}"),
        ] {
            assert_eq!(found(raw, text, needle), expected, "{raw}");
        }
    }

    #[test]
    fn texts_that_do_not_line_up_give_the_first_line() {
        let map = TextMap::new(
            &Source::new("file", "abc\ndef"),
            Span { start: 0, end: 7 },
            "something else",
        );
        assert_eq!(map.locate(4..9), Span { start: 0, end: 3 });
    }

    proptest! {
        #[test]
        fn any_two_texts_are_survived(raw in "[a'\"\\\\ué \n]{0,20}", text in "[a'\"\\\\é \n]{0,20}") {
            let map = TextMap::new(&Source::new("file", &*raw), Span { start: 0, end: raw.len() }, &text);
            for start in 0..=text.len() {
                for end in start..=text.len() + 1 {
                    let span = map.locate(start..end);
                    prop_assert!(span.start <= span.end && span.end <= raw.len());
                    if text.is_char_boundary(start) && text.is_char_boundary(end) {
                        prop_assert!(raw.get(span.range()).is_some());
                    }
                }
            }
        }
    }
}

//! A text to parse in which every placeholder is one private-use character, and the way back to the
//! author's text. A letter would not do: it would join `$HOME{{v}}` into another variable's name.
//! The body of a backtick substitution is a region of its own, because bash reads it after taking
//! one level of backslashes away.

use crate::bash::quoting::{self, Written};
use std::ops::Range;
use towpath_core::{Part, Placeholder, PlaceholderSyntax, Template, VarPath};

#[derive(Clone)]
pub struct Region {
    pub text: String,
    /// For each byte of `text`, and for its end, the byte of the author's text it comes from.
    origin: Vec<usize>,
    /// Where the placeholders are in `text`, in order, with their number in the author's text.
    pub marks: Vec<Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub at: usize,
    pub placeholder: usize,
}

/// Every mark is this many bytes long: all private-use characters of the basic plane are.
pub const MARK_LEN: usize = 3;

impl Region {
    /// `None` if the text itself uses every character that could represent a placeholder.
    pub fn of(
        text: &str,
        syntax: PlaceholderSyntax,
        known: &dyn Fn(&VarPath) -> bool,
    ) -> Option<(Region, Vec<Placeholder>)> {
        let template = Template::parse_as(text, syntax, known);
        let mark = ('\u{e000}'..='\u{f8ff}').find(|c| !text.contains(*c))?;
        let mut region = Region {
            text: String::with_capacity(text.len()),
            origin: Vec::new(),
            marks: Vec::new(),
        };
        let mut placeholders = Vec::new();
        let mut at = 0;
        let mut parts = template.parts().iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Placeholder(placeholder) => {
                    region
                        .marks
                        .push(Mark { at: region.text.len(), placeholder: placeholders.len() });
                    region.text.push(mark);
                    region.origin.extend([placeholder.range.start; MARK_LEN]);
                    at = placeholder.range.end;
                    placeholders.push(placeholder.clone());
                }
                Part::Text(literal) => {
                    let end = match parts.peek() {
                        Some(Part::Placeholder(next)) => next.range.start,
                        _ => text.len(),
                    };
                    region.push_literal(literal, &text[at..end], at);
                    at = end;
                }
            }
        }
        region.origin.push(text.len());
        Some((region, placeholders))
    }

    /// The same placeholders in another text of the same length.
    pub fn with_text(&self, text: String) -> Region {
        debug_assert_eq!(text.len(), self.text.len());
        Region { text, ..self.clone() }
    }

    pub fn without_marks(text: &str) -> Region {
        let origin = (0..=text.len()).collect();
        Region { text: text.to_owned(), origin, marks: Vec::new() }
    }

    /// `written` is `literal` with one more backslash before each escaped placeholder.
    fn push_literal(&mut self, literal: &str, written: &str, start: usize) {
        let mut from = written.char_indices();
        for c in literal.chars() {
            let offset = from.find(|(_, w)| *w == c).map_or(written.len(), |(i, _)| i);
            self.text.push(c);
            self.origin.extend((0..c.len_utf8()).map(|byte| start + offset + byte));
        }
    }

    /// The author's bytes for a range of this text.
    pub fn author(&self, range: Range<usize>) -> Range<usize> {
        let start = self.origin[range.start];
        start..self.origin[range.end].max(start)
    }

    pub fn marks_in(&self, range: &Range<usize>) -> &[Mark] {
        let start = self.marks.partition_point(|m| m.at < range.start);
        let end = self.marks.partition_point(|m| m.at < range.end);
        &self.marks[start..end.max(start)]
    }

    pub fn has_mark(&self, range: &Range<usize>) -> bool {
        !self.marks_in(range).is_empty()
    }

    /// A text made of characters of this one, in order.
    pub fn select(&self, characters: &[Written], end: usize) -> Region {
        let mut inner = Region { text: String::new(), origin: Vec::new(), marks: Vec::new() };
        for (written, c) in characters {
            if let Ok(index) = self.marks.binary_search_by_key(&written.start, |m| m.at)
                && self.text[written.start..].starts_with(*c)
            {
                inner.marks.push(Mark {
                    at: inner.text.len(),
                    placeholder: self.marks[index].placeholder,
                });
            }
            inner.text.push(*c);
            inner.origin.extend(std::iter::repeat_n(self.origin[written.start], c.len_utf8()));
        }
        inner.origin.push(self.origin[end]);
        inner
    }

    /// What bash parses for the backtick substitution whose body is `body`. Inside double quotes
    /// `\"` loses its backslash as well.
    pub fn backtick(&self, body: Range<usize>, double: bool) -> Region {
        self.select(&quoting::backtick_characters(&self.text, body.clone(), double), body.end)
    }
}

/// Text for the inside of a backtick substitution such that bash reads `text` there.
pub fn escape_for_backtick(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lead_back_to_the_author() {
        let text = r"é \{{a}} {{ b }}\\{{c}} z";
        let (region, placeholders) =
            Region::of(text, PlaceholderSyntax::Recipe, &|_| true).unwrap();
        assert_eq!(region.text, "é {{a}} \u{e000}\\\\\u{e000} z");
        assert_eq!(placeholders.len(), 2);
        for mark in &region.marks {
            let author = region.author(mark.at..mark.at + MARK_LEN);
            assert_eq!(author.start, placeholders[mark.placeholder].range.start);
        }
        let z = region.text.find('z').unwrap();
        assert_eq!(&text[region.author(z..z + 1)], "z");
        let escaped = region.text.find("{{a}}").unwrap();
        assert_eq!(&text[region.author(escaped..escaped + 5)], "{{a}}");
    }

    #[test]
    fn a_used_private_character_is_not_the_mark() {
        let (region, _) =
            Region::of("\u{e000}{{v}}", PlaceholderSyntax::Recipe, &|_| true).unwrap();
        assert_eq!(region.text, "\u{e000}\u{e001}");
    }

    #[test]
    fn backticks_lose_one_level() {
        let text = r#"`a \\ \$ \` \" \n {{v}}`"#;
        let (region, _) = Region::of(text, PlaceholderSyntax::Recipe, &|_| true).unwrap();
        let body = 1..region.text.len() - 1;
        let inner = region.backtick(body.clone(), false);
        assert_eq!(inner.text, "a \\ $ ` \\\" \\n \u{e000}");
        assert_eq!(inner.marks.len(), 1);
        assert_eq!(&text[inner.author(inner.marks[0].at..inner.marks[0].at)], "");
        assert_eq!(region.backtick(body, true).text, "a \\ $ ` \" \\n \u{e000}");
    }

    #[test]
    fn escaping_undoes_the_level() {
        let inner = "a \\ ` $ \" \\\\ \\$";
        let written = escape_for_backtick(inner);
        let (region, _) = Region::of(&written, PlaceholderSyntax::Recipe, &|_| true).unwrap();
        for double in [false, true] {
            assert_eq!(region.backtick(0..written.len(), double).text, inner);
        }
    }
}

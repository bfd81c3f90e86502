//! What is a placeholder, in recipes and in documents.

use crate::VarPath;
use crate::variable_path::is_name_character;

/// How a text writes its placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceholderSyntax {
    /// `{{name}}`, `{{name.field.0}}`; `{{name?}}` may be missing.
    Recipe,
    /// Also `{{name[0]}}`, which is `name.0`, and `{{$1}}`, which is `1`. A name begins with a letter
    /// or `_`.
    Document,
}

impl PlaceholderSyntax {
    /// The name and the end of the placeholder whose `{{` is at `start`. It looks no further than the
    /// name goes, so that a text full of `{{` is read once.
    pub fn placeholder_at(self, text: &str, start: usize) -> Option<(VarPath, usize)> {
        let inner = text.get(start..)?.strip_prefix("{{")?.trim_start_matches([' ', '\t']);
        let (path, rest) = match self {
            PlaceholderSyntax::Recipe => recipe_path(inner)?,
            PlaceholderSyntax::Document => document_path(inner)?,
        };
        let (path, rest) = match rest.strip_prefix('?') {
            Some(rest) => (path.optional(), rest),
            None => (path, rest),
        };
        let rest = rest.trim_start_matches([' ', '\t']).strip_prefix("}}")?;
        Some((path, text.len() - rest.len()))
    }
}

fn recipe_path(text: &str) -> Option<(VarPath, &str)> {
    let end = text.find(|c: char| !is_name_character(c))?;
    VarPath::new(&text[..end]).map(|path| (path, &text[end..]))
}

fn document_path(text: &str) -> Option<(VarPath, &str)> {
    if let Some(number) = text.strip_prefix('$') {
        let (digits, rest) = split_while(number, |c| c.is_ascii_digit());
        return VarPath::new(digits).map(|path| (path, rest));
    }
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let (name, mut rest) = split_while(text, in_name);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let mut path = name.to_owned();
    loop {
        let (segment, after) = if let Some(after) = rest.strip_prefix('.') {
            split_while(after, in_name)
        } else if let Some(after) = rest.strip_prefix('[') {
            let (digits, after) = split_while(after, |c| c.is_ascii_digit());
            (digits, after.strip_prefix(']')?)
        } else {
            return VarPath::new(&path).map(|path| (path, rest));
        };
        if segment.is_empty() {
            return None;
        }
        path.push('.');
        path.push_str(segment);
        rest = after;
    }
}

fn split_while(text: &str, inside: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c: char| !inside(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_document_writes() {
        for (text, expected) in [
            ("{{a}}", Some("a")),
            ("{{ a.b-c }}!", Some("a.b-c")),
            ("{{a[0].b.1}}", Some("a.0.b.1")),
            ("{{$12}}", Some("12")),
            ("{{1}}", None),
            ("{{$}}", None),
            ("{{$a}}", None),
            ("{{a.}}", None),
            ("{{a[x]}}", None),
            ("{{a[}}", None),
            ("{{.Names}}", None),
            ("{{a b}}", None),
            ("{{a\n}}", None),
            ("{{ä}}", None),
            ("{{}}", None),
            ("{{a}", None),
            ("{{a??}}", None),
            ("{{a ?}}", None),
            ("{{?a}}", None),
        ] {
            let found = PlaceholderSyntax::Document.placeholder_at(text, 0);
            assert_eq!(found.as_ref().map(|(path, _)| path.as_str()), expected, "{text}");
        }
    }

    #[test]
    fn a_question_mark_makes_a_name_optional() {
        for syntax in [PlaceholderSyntax::Recipe, PlaceholderSyntax::Document] {
            for (text, optional) in [("{{a.b}}", false), ("{{a.b?}}", true), ("{{ a.b? }}", true)] {
                let (path, end) = syntax.placeholder_at(text, 0).unwrap();
                assert_eq!((path.as_str(), end), ("a.b", text.len()), "{text}");
                assert_eq!(path.is_optional(), optional, "{text}");
            }
        }
    }
}

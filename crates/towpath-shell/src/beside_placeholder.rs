//! What is written right beside a placeholder, read from the text itself and not from the parser's
//! tree: an escape or a `$` before it, a name or a descriptor that it would become a part of.

use crate::bash::quoting::{self, Quoting};
use crate::bash::tree::Part;
use crate::mark::{MARK_LEN, Mark, Region};
use std::ops::Range;

/// What is right before a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    Plain,
    /// A `$` that nothing escapes.
    Dollar,
    /// A backslash that would escape what is written, or `\c` in `$'…'`.
    Backslash,
}

pub fn before_placeholder(before: &str, quoting: Quoting) -> Before {
    let odd_backslashes =
        |text: &str| text.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1;
    let joined = before.strip_suffix('\n').is_some_and(odd_backslashes);
    match quoting {
        Quoting::Single => Before::Plain,
        // Bash joins the lines first, so that a `$` at the end of the line before comes next.
        _ if joined && quoting != Quoting::Ansi => {
            match before_placeholder(&before[..before.len() - 2], quoting) {
                Before::Plain => Before::Plain,
                Before::Dollar | Before::Backslash => Before::Backslash,
            }
        }
        _ if odd_backslashes(before) => Before::Backslash,
        Quoting::Ansi => match before.strip_suffix('c').is_some_and(odd_backslashes) {
            true => Before::Backslash,
            false => Before::Plain,
        },
        _ => match before.strip_suffix('$') {
            Some(rest) if !odd_backslashes(rest) => Before::Dollar,
            _ => Before::Plain,
        },
    }
}

/// `{{v}}=1`, `a{{v}}+=1`, `{{v}}[0]=1`: an assignment, if the placeholder were a name.
pub fn assigns_to_mark(region: &Region, word: &Range<usize>) -> bool {
    let text = &region.text[word.clone()];
    let Some(mark) = region.marks_in(word).first() else { return false };
    let sign = region.text[mark.at..].chars().next().unwrap_or_default();
    let name = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == sign))
        .unwrap_or(text.len());
    if name <= mark.at - word.start {
        return false;
    }
    let mut rest = &text[name..];
    if rest.starts_with('[') {
        rest = rest.find(']').map_or("", |end| &rest[end + 1..]);
    }
    rest.starts_with('=') || rest.starts_with("+=")
}

/// `{a[…]}>file`: bash keeps the number of the opened file in that variable.
pub fn names_descriptor(text: &str, word: &Range<usize>) -> bool {
    let inside = &text[word.clone()];
    inside.starts_with('{') && inside.ends_with('}') && text[word.end..].starts_with(['<', '>'])
}

/// `exec {name}`: what bash opens next gets its number in that variable.
pub fn ends_with_descriptor_name(before: &str) -> bool {
    let Some((front, name)) = before.strip_suffix('}').and_then(|b| b.rsplit_once('{')) else {
        return false;
    };
    let alone = front.is_empty() || front.ends_with([' ', '\t', '\n', ';', '&', '|', '(']);
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    alone && starts && !name.contains([',', ' ', '.'])
}

/// Whether a redirection's word has text that no file descriptor has.
pub fn is_file_name(text: &str, parts: &[Part]) -> bool {
    let outside = |text: &str| {
        text.contains(|c: char| {
            !c.is_ascii_digit() && !matches!(c, '-' | '\\' | '\u{e000}'..='\u{f8ff}')
        })
    };
    parts.iter().any(|part| match part {
        Part::Literal(range) => outside(&text[range.clone()]),
        Part::Single(range) => outside(&text[range.start + 1..range.end - 1]),
        Part::Double { parts, .. } => is_file_name(text, parts),
        _ => false,
    })
}

/// The name in `"name=…"` or `'name=…'`.
pub fn quoted_assignment(word: &str) -> Option<&str> {
    let inner = word.strip_prefix(['"', '\''])?;
    let (name, _) = inner.split_once('=')?;
    is_name(name).then_some(name)
}

pub fn is_name(text: &str) -> bool {
    quoting::is_plain_word(text) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether `set -k` is in the text: with it an argument `name=value` is an assignment.
pub fn sets_keyword(text: &str) -> bool {
    text.split(['\n', ';', '|', '&', '(', ')', '{', '}', '`']).any(|command| {
        let mut words = command.split_whitespace().map(|word| word.trim_matches(['"', '\'', '\\']));
        let short = |word: &str| word.starts_with('-') && !word.starts_with("--");
        words.any(|word| matches!(word, "set" | "shopt"))
            && words.any(|word| word.contains("keyword") || short(word) && word.contains('k'))
    })
}

/// The array whose subscript the mark is in, inside the arithmetic that begins at `start`.
pub fn subscripted_name(region: &Region, start: usize, mark: Mark) -> Option<&str> {
    let before = &region.text[start..mark.at];
    let mut depth = 0;
    let open = before.char_indices().rev().find_map(|(i, c)| {
        match c {
            ']' => depth += 1,
            '[' if depth == 0 => return Some(i),
            '[' => depth -= 1,
            _ => {}
        }
        None
    })?;
    let name = &before[..open];
    let begin = name
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .map_or(0, |i| i + name[i..].chars().next().map_or(1, char::len_utf8));
    Some(&name[begin..]).filter(|n| !n.is_empty())
}

/// Whether some mark comes after a `[` that no `]` has closed.
pub fn mark_in_brackets(region: &Region, range: &Range<usize>) -> bool {
    region.marks_in(range).iter().any(|mark| {
        let before = &region.text[range.start..mark.at];
        before.rfind('[').is_some_and(|open| before.rfind(']').is_none_or(|close| close < open))
    })
}

pub fn is_one_mark(region: &Region, range: &Range<usize>) -> bool {
    matches!(region.marks_in(range), [mark] if *range == (mark.at..mark.at + MARK_LEN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use towpath_core::PlaceholderSyntax;

    #[test]
    fn names_that_a_placeholder_would_make() {
        for (text, assigns) in [
            ("{{v}}=1", true),
            ("a{{v}}+=1", true),
            ("{{v}}[0]=1", true),
            ("--x={{v}}", false),
            ("a={{v}}=1", false),
            ("{{v}}", false),
            ("{{v}}/x=1", false),
        ] {
            let (region, _) = Region::of(text, PlaceholderSyntax::Recipe, &|_| true).unwrap();
            assert_eq!(assigns_to_mark(&region, &(0..region.text.len())), assigns, "{text}");
        }
    }

    #[test]
    fn subscripts_in_arithmetic() {
        for (text, name) in [
            ("(( m[{{v}}] ))", Some("m")),
            ("(( m[1] + {{v}} ))", None),
            ("(( 1+ab_1[x[2] + {{v}}] ))", Some("ab_1")),
        ] {
            let (region, _) = Region::of(text, PlaceholderSyntax::Recipe, &|_| true).unwrap();
            assert_eq!(subscripted_name(&region, 0, region.marks[0]), name, "{text}");
        }
    }
}

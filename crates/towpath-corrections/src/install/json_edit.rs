//! Edits of a JSON text that keep every other byte: a value added at the end of an object or an array
//! in the text's own formatting, a value removed, a string replaced.
//!
//! Removing is the inverse of adding, to the byte. A container that was empty before keeps what is
//! inside its brackets: the first value is written directly after the opening bracket. One that we
//! create has a blank there. So it is known later which of them we created.

use super::json_node::{Node, comment};
use serde_json::Value;

/// How a text is formatted.
#[derive(Debug, Clone)]
pub struct Formatting {
    newline: &'static str,
    indent: String,
    /// The whole text is in one line.
    one_line: bool,
}

impl Formatting {
    pub fn of(text: &str, root: &Node) -> Formatting {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.children().first();
        let indent = first.and_then(|child| own_line_indent(text, child.start));
        let inside = &text[root.span.clone()];
        Formatting {
            newline,
            indent: indent.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned(),
            one_line: first.is_some() && !inside.contains('\n'),
        }
    }

    /// A value whose lines after the first are indented by `base`.
    fn render(&self, value: &Value, base: &str, one_line: bool) -> String {
        let inner = format!("{base}{}", self.indent);
        let (open, close, items): (char, char, Vec<String>) = match value {
            Value::Object(members) if !members.is_empty() => {
                let member = |(key, value): (&String, &Value)| {
                    format!(
                        "{}: {}",
                        Value::from(key.as_str()),
                        self.render(value, &inner, one_line)
                    )
                };
                ('{', '}', members.iter().map(member).collect())
            }
            Value::Array(items) if !items.is_empty() => {
                let item = |value: &Value| self.render(value, &inner, one_line);
                ('[', ']', items.iter().map(item).collect())
            }
            scalar => return scalar.to_string(),
        };
        if one_line {
            return format!("{open} {} {close}", items.join(", "));
        }
        let newline = self.newline;
        let items = items.join(&format!(",{newline}{inner}"));
        format!("{open}{newline}{inner}{items}{newline}{base}{close}")
    }
}

/// A whole new file.
pub fn new_file(value: &Value) -> String {
    let formatting = Formatting { newline: "\n", indent: "  ".to_owned(), one_line: false };
    format!("{}\n", formatting.render(value, "", false))
}

/// The text with a value at the end of a container of it; with a key where that is an object.
pub fn append(
    text: &str,
    formatting: &Formatting,
    container: &Node,
    key: Option<&str>,
    value: &Value,
) -> String {
    let written = |base: &str, one_line: bool| {
        let value = formatting.render(value, base, one_line);
        key.map_or(value.clone(), |key| format!("{}: {value}", Value::from(key)))
    };
    let Some(last) = container.children().last() else {
        let inside = container.span.start + 1;
        let new = written(line_indent(text, container.span.start), formatting.one_line);
        return spliced(text, &[(inside..inside, &new)]);
    };
    let first = container.children().first().expect("it has a last one").start;
    let end = last.comma.map_or(last.value.span.end, |comma| comma + 1);
    let at = after_comments(text, end);
    let (separator, new) = match own_line_indent(text, first) {
        Some(indent) => (format!("{}{indent}", formatting.newline), written(indent, false)),
        None if ends_in_line_comment(&text[end..at]) => {
            (formatting.newline.into(), written("", true))
        }
        None => (" ".to_owned(), written("", true)),
    };
    match last.comma {
        Some(_) => spliced(text, &[(at..at, &format!("{separator}{new},"))]),
        None => spliced(text, &[(end..end, ","), (at..at, &format!("{separator}{new}"))]),
    }
}

/// The text without one child of a container.
pub fn remove(text: &str, container: &Node, index: usize) -> String {
    let children = container.children();
    let child = &children[index];
    let before = index.checked_sub(1).and_then(|index| children[index].comma);
    let open = before.unwrap_or(container.span.start) + 1;
    let kept = text[open..child.start].trim_end_matches([' ', '\t', '\r', '\n']);
    let end = child.comma.map_or(child.value.span.end, |comma| comma + 1);
    let next = text[end..].trim_start_matches([' ', '\t']);
    // What follows must not become part of a comment.
    let joined = ends_in_line_comment(kept) && !next.starts_with(['\r', '\n']);
    let start = if joined { child.start } else { open + kept.len() };
    match (child.comma, before) {
        (None, Some(comma)) => spliced(text, &[(comma..comma + 1, ""), (start..end, "")]),
        _ => spliced(text, &[(start..end, "")]),
    }
}

/// Whether a container that has become empty is one that we created, and nothing else is in it.
pub fn is_left_of_ours(text: &str, container: &Node, with_ours: &str) -> bool {
    let inside = &text[container.span.start + 1..container.span.end - 1];
    // Up to the opening bracket both texts are the same.
    let blank = with_ours.as_bytes().get(container.span.start + 1);
    container.children().is_empty()
        && inside.trim().is_empty()
        && blank.is_some_and(u8::is_ascii_whitespace)
}

/// The text with another string in one position.
pub fn replace(text: &str, node: &Node, value: &str) -> String {
    spliced(text, &[(node.span.clone(), &Value::from(value).to_string())])
}

fn spliced(text: &str, edits: &[(std::ops::Range<usize>, &str)]) -> String {
    let mut result = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in edits {
        result.push_str(&text[at..range.start]);
        result.push_str(new);
        at = range.end;
    }
    result.push_str(&text[at..]);
    result
}

/// The blanks before a position, if it is the first on its line.
fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let before = &text[line..at];
    before.chars().all(|c| c == ' ' || c == '\t').then_some(before)
}

/// The blanks at the beginning of the line that a position is in.
fn line_indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let length = text[line..at].find(|c| c != ' ' && c != '\t').unwrap_or(at - line);
    &text[line..line + length]
}

/// The end of the comments that follow on the same line: they belong to what is before them.
fn after_comments(text: &str, from: usize) -> usize {
    let mut end = from;
    let mut at = from;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
        match comment(&text[at..]) {
            Some(length) => {
                at += length;
                end = at;
            }
            None => return end,
        }
    }
}

/// Whether a text of blanks, commas and comments ends in a comment that only a line break ends.
fn ends_in_line_comment(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        rest = &rest[at..];
        let Some(length) = comment(rest) else { return false };
        if length == rest.len() {
            return rest.starts_with("//");
        }
        rest = &rest[length..];
    }
    false
}

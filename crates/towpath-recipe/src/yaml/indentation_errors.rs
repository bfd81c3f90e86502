//! Lines of YAML that begin at the wrong column. The library reports what it did not find there; a
//! user needs to know where the line should begin.

use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span};

/// A column, counted from 0, at which a line can continue what is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    /// Of the keys of a map.
    Key(usize),
    /// Of the `-` of a list.
    Item(usize),
}

impl Column {
    fn at(self) -> usize {
        match self {
            Column::Key(at) | Column::Item(at) => at,
        }
    }
}

/// The maps and lists that are open above a line.
#[derive(Default)]
struct Open<'t> {
    columns: Vec<Column>,
    /// The key of the last line, and what its value is.
    last: Option<(&'t str, usize, Value)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// On the same line.
    Inline,
    /// On the lines below.
    Below,
    /// A text on the lines below: `|` or `>`.
    Block,
}

/// The error of the line at `offset`, if it is that it begins at the wrong column.
pub(super) fn misplaced_line(source: &Arc<Source>, offset: usize) -> Option<Diagnostic> {
    let text = &source.text;
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next()?;
    let begins = indent(line);
    let open = Open::above(&text[..start]);
    let (expected, why) = expected(&open, line, begins)?;
    let message = format!(
        "this line begins at column {}, where column {} is expected",
        begins + 1,
        expected + 1
    );
    let span = Span { start: start + begins, end: start + line.trim_end().len() };
    let label = match expected {
        0 => format!("begin it at the left edge, {why}"),
        1 => format!("indent it by 1 space, {why}"),
        spaces => format!("indent it by {spaces} spaces, {why}"),
    };
    Some(Diagnostic::error("bad-indentation", message).at(source, span, label))
}

/// A tab in the indentation of the line at `offset`, or of the next one: the library may report where the
/// value before it began.
pub(super) fn tab_in_indentation(source: &Arc<Source>, offset: usize) -> Option<Diagnostic> {
    let text = &source.text;
    let mut start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    for line in text[start..].split_inclusive('\n').take(2) {
        let blank = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        if let (Some(tab), false) = (blank.find('\t'), line.trim().is_empty()) {
            let span = Span::new(start + tab..start + tab + 1);
            let message = "this line is indented with a tab";
            let label = "indent with spaces";
            return Some(Diagnostic::error("bad-yaml", message).at(source, span, label));
        }
        start += line.len();
    }
    None
}

fn expected(open: &Open<'_>, line: &str, begins: usize) -> Option<(usize, String)> {
    let content = line.trim_start();
    if let Some((key, column, Value::Block)) = open.last {
        let why = format!("or more: it is the text of `{key}`");
        return (begins <= column && key_of(content).is_none() && !is_item(content))
            .then(|| (column + 2, why));
    }
    if content.starts_with('\t') || (key_of(content).is_none() && !is_item(content)) {
        return None;
    }
    let fits = |column: &&Column| matches!(column, Column::Item(_)) == is_item(content);
    let nearest = open.columns.iter().filter(fits).min_by_key(|column| {
        // Between two, the deeper one: a field is mostly meant for the step above it.
        (column.at().abs_diff(begins), usize::MAX - column.at())
    })?;
    let like = if is_item(content) { "as the other items" } else { "as the other fields" };
    (nearest.at() != begins).then(|| (nearest.at(), like.to_owned()))
}

impl<'t> Open<'t> {
    fn above(text: &'t str) -> Open<'t> {
        let mut open = Open::default();
        for line in text.lines() {
            let content = line.trim();
            let begins = indent(line);
            let in_block = matches!(open.last, Some((_, column, Value::Block)) if begins > column);
            if !content.is_empty() && !content.starts_with('#') && !in_block {
                open.line(content, begins);
            }
        }
        open
    }

    fn line(&mut self, content: &'t str, begins: usize) {
        if !is_item(content) && key_of(content).is_none() {
            return;
        }
        // A list may begin at the column of its key.
        self.columns.retain(|column| match column {
            Column::Key(at) => *at <= begins,
            Column::Item(at) => *at < begins || (is_item(content) && *at == begins),
        });
        let (mut content, mut begins) = (content, begins);
        while is_item(content) {
            self.push(Column::Item(begins));
            let rest = content[1..].trim_start();
            begins += content.len() - rest.len();
            content = rest;
        }
        let Some((key, value)) = key_of(content) else { return };
        self.push(Column::Key(begins));
        let value = match value.split('#').next().unwrap_or("").trim() {
            "" => Value::Below,
            block if block.starts_with(['|', '>']) => Value::Block,
            _ => Value::Inline,
        };
        self.last = Some((key, begins, value));
    }

    fn push(&mut self, column: Column) {
        if !self.columns.contains(&column) {
            self.columns.push(column);
        }
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// The key that a line begins with, and what follows its colon.
fn key_of(content: &str) -> Option<(&str, &str)> {
    let (key, value) = content.split_once(':')?;
    let plain = |c: char| c.is_alphanumeric() || "_-.$\"'".contains(c);
    let ends = value.is_empty() || value.starts_with(' ');
    (ends && !key.is_empty() && key.chars().all(plain)).then_some((key, value))
}

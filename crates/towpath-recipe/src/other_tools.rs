//! Files of other tools that were given as a recipe, recognised by what only they have: a list of
//! unknown fields would not help their users.

use crate::field_table::{Section, find_field};
use crate::other_words::{files, how};
use std::sync::Arc;
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, Span};

const RECIPE: &str =
    "a recipe has a `name` and a list of `steps`, each with an `id` and a `command`";

/// The error for a file that is another tool's. Without a tree it is no YAML.
pub(crate) fn recognised(source: &Arc<Source>, root: Option<&Node>) -> Option<Diagnostic> {
    let name = source.name.rsplit('/').next().unwrap_or(&source.name).to_lowercase();
    let named = files("file name").find(|[names, ..]| names.split(' ').any(|known| known == name));
    if let Some([_, what, how]) = named {
        return Some(error(source, first_line(source), what, how));
    }
    let Some(root) = root else { return by_text(source) };
    if root.get("steps").is_some() {
        return None;
    }
    let by_shape = files("file").find_map(|[shapes, what, how]| {
        let found: Option<Vec<&Entry>> =
            shapes.split(' ').map(|shape| member(root, shape)).collect();
        Some(error(source, found?.first()?.key_defined, what, how))
    });
    by_shape.or_else(|| {
        let Kind::Map(entries) = &root.kind else { return None };
        targets(source, entries).then(|| {
            let first = entries.first().map_or(Span::default(), |entry| entry.key_defined);
            error(source, first, "a justfile or a makefile", just())
        })
    })
}

/// The entry of a value that a shape of `other_words.txt` begins with, where the value has that shape.
fn member<'n>(node: &'n Node, shape: &str) -> Option<&'n Entry> {
    if let Some(rest) = shape.strip_prefix("-/") {
        let Kind::List(items) = &node.kind else { return None };
        return items.iter().find_map(|item| member(item, rest));
    }
    let (part, inside) = shape.split_once('/').map_or((shape, None), |(a, b)| (a, Some(b)));
    let (name, kind) = part.split_once(':').unwrap_or((part, ""));
    node.entries().iter().filter(|entry| name == "*" || entry.key == name).find(|entry| {
        let is_kind = match &entry.value.kind {
            Kind::Map(_) => kind != "list",
            Kind::List(_) => kind != "map",
            _ => kind.is_empty(),
        };
        is_kind && inside.is_none_or(|inside| member(&entry.value, inside).is_some())
    })
}

/// How the lines of a justfile are written here.
fn just() -> &'static str {
    how("file name", "justfile").unwrap_or_default()
}

fn by_text(source: &Arc<Source>) -> Option<Diagnostic> {
    let mut lines = source.text.lines();
    if lines.clone().any(|line| line.starts_with("[tasks")) {
        let how = "write each `run` as a step's `command`";
        return Some(error(source, first_line(source), "a file of mise", how));
    }
    // `version := "1"`, `set shell := […]`: YAML has no such line at its left edge.
    let in_name = |c: char| c.is_alphanumeric() || "_- ".contains(c);
    let assigns = |line: &str| {
        line.split_once(":=").is_some_and(|(name, _)| {
            name.starts_with(char::is_alphabetic) && name.chars().all(in_name)
        })
    };
    lines.any(assigns).then(|| error(source, first_line(source), "a justfile", just()))
}

fn first_line(source: &Source) -> Span {
    source.line_from(source.text.len() - source.text.trim_start().len())
}

/// `build:` with a line of commands below it, and nothing that a recipe has.
fn targets(source: &Source, entries: &[Entry]) -> bool {
    let target = |entry: &Entry| {
        matches!(entry.value.kind, Kind::Text(_))
            && find_field(Section::Recipe, &entry.key).is_none()
    };
    let below = |entry: &Entry| {
        let between = source.text.get(entry.key_defined.end..entry.value.defined.start);
        between.is_some_and(|text| text.contains('\n'))
    };
    entries.iter().all(target) && entries.iter().any(below)
}

fn error(source: &Arc<Source>, span: Span, what: &str, how: &str) -> Diagnostic {
    let problem = Diagnostic::error("other-tool", format!("this is {what}, not a recipe"));
    problem.at(source, span, how).help(RECIPE)
}

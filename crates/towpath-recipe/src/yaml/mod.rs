//! YAML, and JSON with it, as a tree of nodes. Only what JSON writes as a number is a number, and
//! it keeps its text; `017`, `1_000` or `.5` stay the text they are. The same key twice and keys
//! that are not text are refused, with their spans.

mod indentation_errors;
mod unquoted_values;
mod yaml_library;

use serde_saphyr::{DuplicateKeyPolicy, Error, Spanned};
use std::collections::HashMap;
use std::sync::Arc;
use towpath_core::fields::FileKind;
use towpath_core::spanned_tree::{Entry, Kind, Node, Tree};
use towpath_core::{Diagnostic, Source, Span};
use yaml_library::Raw;

/// The largest file that is read as YAML, in bytes.
pub const MAX_BYTES: usize = 1_000_000;

/// Reads a text as a tree; what is wrong with it as YAML comes beside it.
pub fn parse(source: &Arc<Source>, kind: FileKind) -> Tree {
    let text = &source.text;
    if text.len() > MAX_BYTES {
        let size = text.len();
        let message =
            format!("{} has {size} bytes, {} at most {MAX_BYTES}", source.name, kind.name);
        return Tree::refused(Diagnostic::error("too-large", message));
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Tree::refused(empty(source, kind));
    }
    if let Some(problem) = unquoted_values::comment_in_json(source) {
        return Tree::refused(problem);
    }
    match yaml_library::deserialize(text, DuplicateKeyPolicy::Error) {
        Ok(raw) => convert(source, kind, raw, None),
        Err(error) => match yaml_library::deserialize(text, DuplicateKeyPolicy::LastWins) {
            // The text is sound apart from duplicate keys: now both of their spans are known.
            Ok(raw) => convert(source, kind, raw, Some(&error)),
            Err(_) => Tree::refused(yaml_library::syntax_error(source, kind, &error)),
        },
    }
}

fn empty(source: &Arc<Source>, kind: FileKind) -> Diagnostic {
    let label = format!("{} needs {}", kind.name, kind.needs);
    let problem = Diagnostic::error("empty-file", format!("{} is empty", source.name));
    problem.at(source, Span::default(), label)
}

fn convert(
    source: &Arc<Source>,
    kind: FileKind,
    raw: Spanned<Raw>,
    duplicate: Option<&Error>,
) -> Tree {
    let mut converter = Converter { source, problems: Vec::new() };
    let root = converter.node(raw);
    let mut problems = converter.problems;
    if let Some(error) = duplicate
        && problems.is_empty()
    {
        problems.push(yaml_library::syntax_error(source, kind, error));
    }
    if root.is_null() {
        problems.push(empty(source, kind));
    }
    Tree { root: Some(root), problems }
}

struct Converter<'a> {
    source: &'a Arc<Source>,
    problems: Vec<Diagnostic>,
}

impl Converter<'_> {
    fn node(&mut self, raw: Spanned<Raw>) -> Node {
        let span = yaml_library::span_of(self.source, &raw.referenced);
        let defined = yaml_library::span_of(self.source, &raw.defined);
        self.problems.extend(unquoted_values::dropped_exclamation(self.source, defined));
        let kind = match raw.value {
            Raw::Null => Kind::Null,
            Raw::Bool(value) => Kind::Bool(value),
            Raw::Number(canonical) => self.number(&canonical, defined),
            Raw::Text(text) => Kind::Text(text),
            Raw::List(items) => Kind::List(items.into_iter().map(|i| self.node(i)).collect()),
            Raw::Map(entries) => self.map(entries, defined),
        };
        Node { span, defined, kind }
    }

    fn number(&self, canonical: &str, defined: Span) -> Kind {
        let written = self.source.text.get(defined.range()).unwrap_or(canonical);
        // A quote here means `!!int "5"`: the text is the value, not the quotes.
        let text = if written.starts_with(['"', '\'']) { canonical } else { written };
        match towpath_core::number(text) {
            Some(number) => Kind::Number(number),
            None => Kind::Text(text.to_owned()),
        }
    }

    fn map(&mut self, entries: Vec<(Spanned<Raw>, Spanned<Raw>)>, defined: Span) -> Kind {
        if self.source.text[defined.start..].starts_with("{{") {
            self.problems.push(yaml_library::unquoted_placeholder(self.source, defined.start));
            return Kind::Text("{{".to_owned());
        }
        let mut map: Vec<Entry> = Vec::new();
        let mut seen: HashMap<String, Span> = HashMap::new();
        for (key, value) in entries {
            let key = self.node(key);
            let value = self.node(value);
            let Some(name) = self.key_text(&key) else { continue };
            if let Some(first) = seen.get(&name) {
                self.problems.push(
                    Diagnostic::error("duplicate-key", format!("`{name}` is here twice"))
                        .at(self.source, key.defined, "again here")
                        .at(self.source, *first, "first here"),
                );
                continue;
            }
            seen.insert(name.clone(), key.defined);
            map.push(Entry { key: name, key_span: key.span, key_defined: key.defined, value });
        }
        Kind::Map(map)
    }

    fn key_text(&mut self, key: &Node) -> Option<String> {
        match &key.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Bool(_) | Kind::Number(_) => {
                self.source.text.get(key.defined.range()).map(str::to_owned)
            }
            _ => {
                let message = format!("a key must be a string, this is {}", key.describe());
                let problem = Diagnostic::error("bad-key", message);
                self.problems.push(problem.at(self.source, key.defined, "not a string"));
                None
            }
        }
    }
}

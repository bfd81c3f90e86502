//! A recipe file as a tree in which every key and every value knows its place. YAML and JSON are
//! both read here. Only what JSON writes as a number is a number, and it keeps its text; `017`,
//! `1_000` or `.5` stay the text they are. The same key twice and keys that are not text are
//! refused, with their places.

use crate::text_map::TextMap;
use crate::yaml::{self, Raw};
use serde_saphyr::{DuplicateKeyPolicy, Error, Spanned};
use std::collections::HashMap;
use std::sync::Arc;
use towpath_core::{Diagnostic, Map, Source, Span, Value};

/// The largest recipe file, in bytes.
pub const MAX_BYTES: usize = 1_000_000;

#[derive(Debug, Clone)]
pub struct Node {
    /// Where the value is used: for an alias or a merged value the `*name`.
    pub span: Span,
    /// Where the value is written.
    pub defined: Span,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Null,
    Bool(bool),
    /// A JSON number with its text.
    Number(Value),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub key: String,
    /// Where the key is used and where it is written, as for a node.
    pub key_span: Span,
    pub key_defined: Span,
    pub value: Node,
}

#[derive(Debug)]
pub struct Tree {
    /// None when the text is no YAML at all.
    pub root: Option<Node>,
    pub problems: Vec<Diagnostic>,
}

impl Node {
    /// What the value is called in messages.
    pub fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }

    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => number.clone(),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Node::value).collect(),
            Kind::Map(entries) => {
                let entries = entries.iter().map(|e| (e.key.clone(), e.value.value()));
                Value::Object(entries.collect::<Map>())
            }
        }
    }

    /// The part of the file that the value takes up where it is used.
    pub fn extent(&self) -> Span {
        let children: Vec<Span> = match &self.kind {
            Kind::List(items) => items.iter().map(Node::extent).collect(),
            Kind::Map(entries) => {
                entries.iter().flat_map(|e| [e.key_span, e.value.extent()]).collect()
            }
            _ => Vec::new(),
        };
        children.into_iter().fold(self.span, |whole, child| Span {
            start: whole.start.min(child.start),
            end: whole.end.max(child.end),
        })
    }

    pub(crate) fn map_of(&self, source: &Source, text: &str) -> TextMap {
        TextMap::new(&source.text, self.defined, text)
    }
}

/// Reads a text as a tree; what is wrong with it as YAML comes beside it.
pub fn parse(source: &Arc<Source>) -> Tree {
    let text = &source.text;
    if text.len() > MAX_BYTES {
        let size = text.len();
        return refused(Diagnostic::error(
            "too-large",
            format!("{} has {size} bytes, a recipe at most {MAX_BYTES}", source.name),
        ));
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return refused(empty(source));
    }
    match yaml::deserialize(text, DuplicateKeyPolicy::Error) {
        Ok(raw) => convert(source, raw, None),
        Err(error) => match yaml::deserialize(text, DuplicateKeyPolicy::LastWins) {
            // The text is sound apart from keys that stand twice: now both places are known.
            Ok(raw) => convert(source, raw, Some(&error)),
            Err(_) => refused(yaml::syntax_error(source, &error)),
        },
    }
}

fn refused(problem: Diagnostic) -> Tree {
    Tree { root: None, problems: vec![problem] }
}

fn empty(source: &Arc<Source>) -> Diagnostic {
    Diagnostic::error("empty-file", format!("{} is empty", source.name)).at(
        source,
        Span::default(),
        "a recipe needs `name` and `steps`",
    )
}

fn convert(source: &Arc<Source>, raw: Spanned<Raw>, duplicate: Option<&Error>) -> Tree {
    let mut converter = Converter { source, problems: Vec::new() };
    let root = converter.node(raw);
    let mut problems = converter.problems;
    if let Some(error) = duplicate
        && problems.is_empty()
    {
        problems.push(yaml::syntax_error(source, error));
    }
    if matches!(root.kind, Kind::Null) {
        problems.push(empty(source));
    }
    Tree { root: Some(root), problems }
}

struct Converter<'a> {
    source: &'a Arc<Source>,
    problems: Vec<Diagnostic>,
}

impl Converter<'_> {
    fn node(&mut self, raw: Spanned<Raw>) -> Node {
        let span = yaml::span_of(self.source, &raw.referenced);
        let defined = yaml::span_of(self.source, &raw.defined);
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
            self.problems.push(yaml::unquoted_place(self.source, defined.start));
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
                let message = format!("a key must be text, this is {}", key.describe());
                let problem = Diagnostic::error("bad-key", message);
                self.problems.push(problem.at(self.source, key.defined, "not text"));
                None
            }
        }
    }
}

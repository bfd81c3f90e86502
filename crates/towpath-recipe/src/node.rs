//! A recipe file as a tree in which every key and every value knows its place. YAML and JSON are
//! both read here. Only what JSON writes as a number is a number, and it keeps its text; `017`,
//! `1_000` or `.5` stay the text they are. Refused: two documents, the same key twice, unknown
//! tags, keys that are not text, and files made to exhaust memory or the stack.

use crate::text_map::TextMap;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{
    DuplicateKeyPolicy, Error, Location, NonFiniteFloatPolicy, Options, Spanned,
    budget::BudgetBreach,
};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use towpath_core::{Diagnostic, Map, Source, Span, Value};

/// The largest recipe file, in bytes.
pub const MAX_BYTES: usize = 1_000_000;
const MAX_DEPTH: usize = 64;
const MAX_SCALAR_BYTES: usize = 8_000_000;

#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Where the value is used: for an alias or a merged value the `*name`.
    pub span: Span,
    /// Where the value is written.
    pub defined: Span,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// A JSON number with its text.
    Number(Value),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: String,
    /// Where the key is used and where it is written, as for a node.
    pub key_span: Span,
    pub key_defined: Span,
    pub value: Node,
}

pub(crate) struct Tree {
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

    pub fn map_of(&self, source: &Source, text: &str) -> TextMap {
        TextMap::new(&source.text, self.defined, text)
    }
}

pub(crate) fn parse(source: &Arc<Source>) -> Tree {
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
    match deserialize(text, DuplicateKeyPolicy::Error) {
        Ok(raw) => convert(source, raw, None),
        Err(error) => match deserialize(text, DuplicateKeyPolicy::LastWins) {
            // The text is sound apart from keys that stand twice: now both places are known.
            Ok(raw) => convert(source, raw, Some(&error)),
            Err(_) => refused(syntax_error(source, &error)),
        },
    }
}

fn refused(problem: Diagnostic) -> Tree {
    Tree { root: None, problems: vec![problem] }
}

fn empty(source: &Arc<Source>) -> Diagnostic {
    Diagnostic::error("empty-file", format!("{} is empty", source.name))
        .at(source, Span::default(), "a recipe needs `name` and `steps`")
}

fn deserialize(text: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Spanned<Raw>, Error> {
    let mut options = Options::default();
    options.duplicate_keys = duplicate_keys;
    options.strict_booleans = true;
    options.reject_unsupported_tags = true;
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    options.with_snippet = false;
    if let Some(budget) = options.budget.as_mut() {
        budget.max_depth = MAX_DEPTH;
        budget.max_total_scalar_bytes = MAX_SCALAR_BYTES;
    }
    serde_saphyr::from_str_with_options(text, options)
}

/// What the YAML reader hands over, before numbers get their text back.
enum Raw {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Text(text))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Raw, E> {
        Ok(Raw::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key()? {
            map.push((key, entries.next_value()?));
        }
        Ok(Raw::Map(map))
    }
}

fn convert(source: &Arc<Source>, raw: Spanned<Raw>, duplicate: Option<&Error>) -> Tree {
    let mut converter = Converter { source, problems: Vec::new() };
    let root = converter.node(raw);
    let mut problems = converter.problems;
    if let Some(error) = duplicate
        && problems.is_empty()
    {
        problems.push(syntax_error(source, error));
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
        let span = span_of(self.source, &raw.referenced);
        let defined = span_of(self.source, &raw.defined);
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
            self.problems.push(unquoted_place(self.source, defined.start));
            return Kind::Text(String::new());
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

/// `{{` at the start of a value opens two YAML maps; its author meant a place.
fn unquoted_place(source: &Arc<Source>, start: usize) -> Diagnostic {
    let line = source.text[start..].lines().next().unwrap_or("").trim_end();
    let message = "a value that begins with `{{` must be quoted: YAML reads it as a map";
    Diagnostic::error("unquoted-place", message)
        .at(source, Span { start, end: start + line.len() }, "")
        .help(format!("write '{}'", line.replace('\'', "''")))
}

fn span_of(source: &Source, location: &Location) -> Span {
    let text = &source.text;
    let span = location.span();
    if let (Some(start), Some(length)) = (span.byte_offset(), span.byte_len()) {
        let (start, end) = (start as usize, (start + length) as usize);
        if text.get(start..end).is_some() {
            return Span { start, end };
        }
    }
    let line = (location.line() as usize).saturating_sub(1);
    let column = (location.column() as usize).saturating_sub(1);
    let line_start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = &text[line_start.min(text.len())..];
    let rest = rest.lines().next().unwrap_or("");
    let start = line_start + rest.chars().take(column).map(char::len_utf8).sum::<usize>();
    let end = start + rest.chars().nth(column).map_or(0, char::len_utf8);
    Span { start, end }
}

fn syntax_error(source: &Arc<Source>, error: &Error) -> Diagnostic {
    let error = error.without_snippet();
    let span = error.location().map_or(Span::default(), |l| span_of(source, &l));
    if let Some(start) = place_on_line(source, span.start) {
        return unquoted_place(source, start);
    }
    let (code, message) = match error {
        Error::MultipleDocuments { .. } => {
            ("two-documents", "a recipe is one document: nothing may follow a `---`".to_owned())
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            ("too-deep", format!("nested more than {MAX_DEPTH} levels deep"))
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            ("too-large", "the aliases in this file expand to too many values".to_owned())
        }
        other => ("bad-yaml", plain_message(other)),
    };
    Diagnostic::error(code, message).at(source, span, "")
}

/// The start of a `{{` that begins a value on the line of `offset` and was not quoted.
fn place_on_line(source: &Source, offset: usize) -> Option<usize> {
    let text = &source.text;
    let start = text[..offset.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next()?;
    [": {{", "- {{"].iter().find_map(|opening| Some(start + line.find(opening)? + 2))
}

/// The reader's own words without its place, which the label shows.
fn plain_message(error: &Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    match text {
        "recursion limit exceeded" => format!("nested more than {MAX_DEPTH} levels deep"),
        other => format!("this is not valid YAML: {other}"),
    }
}

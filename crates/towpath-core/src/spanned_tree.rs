//! A file as a tree in which every key and every value knows its span. The fronts for YAML, JSON
//! and TOML produce it; whatever reads fields reads it from here, whichever format it came from.

use crate::{Diagnostic, Map, Span, Value, text_of};

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

/// What a front made of a text.
#[derive(Debug)]
pub struct Tree {
    /// None when the text is not of the format at all.
    pub root: Option<Node>,
    pub problems: Vec<Diagnostic>,
}

impl Tree {
    pub fn refused(problem: Diagnostic) -> Tree {
        Tree { root: None, problems: vec![problem] }
    }
}

impl Node {
    /// What the value is called in messages.
    pub fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a string",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// The entries of a map; nothing else has any.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// A string that is written as one.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A scalar as text: a number or a boolean is the text it is written with.
    pub fn scalar(&self) -> Option<String> {
        match &self.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Bool(_) | Kind::Number(_) => Some(text_of(&self.value())),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
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
}

impl Entry {
    pub fn is_null(&self) -> bool {
        self.value.is_null()
    }
}

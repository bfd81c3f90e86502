//! Reading one value of a test file as what its key needs. Every refusal names what was expected,
//! what came instead and where; of an unknown key, the one that was probably meant.

use super::{Reader, is_null};
use crate::suite::{Files, Name};
use std::path::{Component, Path};
use towpath_core::node::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, Span, nearest, text_of};

/// The known keys of one map.
pub(super) struct Fields<'n> {
    entries: Vec<&'n Entry>,
    meant: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    pub fn get(&self, name: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| entry.key == name).copied()
    }

    /// Whether the key is there under a misspelt name.
    pub fn has_misspelt(&self, name: &str) -> bool {
        self.meant.contains(&name)
    }
}

impl Reader<'_> {
    pub fn fields<'n>(
        &mut self,
        node: &'n Node,
        what: &str,
        known: &'static [&'static str],
    ) -> Option<Fields<'n>> {
        let Kind::Map(entries) = &node.kind else {
            let message = format!("{what} must be a map, this is {}", node.describe());
            self.error("wrong-type", message, first_line(self.source, node.defined), "not a map");
            return None;
        };
        let mut fields = Fields { entries: Vec::new(), meant: Vec::new() };
        for entry in entries {
            if known.contains(&entry.key.as_str()) {
                fields.entries.push(entry);
            } else {
                fields.meant.extend(nearest(&entry.key, known.iter().copied()));
                self.unknown_key(entry, what, known);
            }
        }
        Some(fields)
    }

    pub fn unknown_key(&mut self, entry: &Entry, what: &str, known: &[&str]) {
        let near = nearest(&entry.key, known.iter().copied());
        let label = near
            .map_or(format!("{what} has no such key"), |near| format!("did you mean `{near}`?"));
        let problem = Diagnostic::error("unknown-key", format!("unknown key `{}`", entry.key));
        let problem = problem.at(self.source, entry.key_defined, label);
        let list: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        self.problems.push(match near {
            Some(_) => problem,
            None => problem.help(format!("{what} has {}", list.join(", "))),
        });
    }

    pub fn wrong_type(&mut self, entry: &Entry, expected: &str) {
        if is_null(entry) {
            let label = format!("give it {expected}, or take it out");
            let message = format!("`{}` has no value", entry.key);
            self.error("empty-key", message, entry.key_defined, &label);
            return;
        }
        self.wrong_node(&entry.value, &format!("`{}`", entry.key), expected);
    }

    pub fn wrong_node(&mut self, node: &Node, what: &str, expected: &str) {
        let message = format!("{what} must be {expected}, this is {}", node.describe());
        self.error("wrong-type", message, first_line(self.source, node.defined), "");
    }

    /// A text; a number or a boolean counts as the text it is written with.
    pub fn text(&mut self, entry: &Entry) -> Option<String> {
        let text = scalar(&entry.value);
        if text.is_none() {
            self.wrong_type(entry, "text");
        }
        text
    }

    pub fn name(&mut self, entry: &Entry) -> Option<Name> {
        let text = self.text(entry)?;
        Some(Name { text, span: first_line(self.source, entry.value.defined) })
    }

    /// Bash text: what can be an argument of a program.
    pub fn bash(&mut self, entry: &Entry) -> Option<String> {
        let text = self.text(entry)?;
        self.bash_text(text, &entry.value)
    }

    pub fn bash_text(&mut self, text: String, node: &Node) -> Option<String> {
        if text.contains('\0') {
            let span = first_line(self.source, node.defined);
            self.error("bad-text", "a command cannot hold a NUL".to_owned(), span, "");
            return None;
        }
        Some(text)
    }

    pub fn flag(&mut self, entry: &Entry) -> Option<bool> {
        let Kind::Bool(value) = entry.value.kind else {
            self.wrong_type(entry, "true or false");
            return None;
        };
        Some(value)
    }

    /// A whole number that an exit code can be.
    pub fn code(&mut self, entry: &Entry) -> Option<u8> {
        let code = match &entry.value.kind {
            Kind::Number(number) => number.to_string().parse::<u8>().ok(),
            _ => None,
        };
        if code.is_none() {
            self.wrong_type(entry, "an exit code, 0 to 255");
        }
        code
    }

    pub fn choice(
        &mut self,
        entry: &Entry,
        words: &'static [&'static str],
    ) -> Option<&'static str> {
        let text = self.text(entry)?;
        let word = words.iter().find(|word| **word == text).copied();
        if word.is_none() {
            let list: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let message = format!("`{}` must be {}, not `{text}`", entry.key, list.join(", "));
            let near = nearest(&text, words.iter().copied());
            let label = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
            self.error("bad-choice", message, first_line(self.source, entry.value.defined), &label);
        }
        word
    }

    pub fn list<'n>(&mut self, entry: &'n Entry, of: &str) -> Option<&'n [Node]> {
        let Kind::List(items) = &entry.value.kind else {
            self.wrong_type(entry, &format!("a list of {of}"));
            return None;
        };
        Some(items)
    }

    pub fn names(&mut self, entry: &Entry, of: &str) -> Option<Vec<Name>> {
        let mut names = Vec::new();
        for item in self.list(entry, of)? {
            match scalar(item) {
                Some(text) => {
                    names.push(Name { text, span: first_line(self.source, item.defined) })
                }
                None => {
                    self.wrong_node(item, &format!("`{}`", entry.key), &format!("a list of {of}"))
                }
            }
        }
        Some(names)
    }

    /// The entries of a map; nothing there is an empty map.
    pub fn map<'n>(&mut self, entry: &'n Entry, expected: &str) -> &'n [Entry] {
        match &entry.value.kind {
            Kind::Map(entries) => entries,
            Kind::Null => &[],
            _ => {
                self.wrong_type(entry, expected);
                &[]
            }
        }
    }

    /// Paths with texts; a path with nothing is not to be there.
    pub fn files(&mut self, entry: &Entry) -> Files {
        let mut files = Vec::new();
        for file in self.map(entry, "a map of paths and texts") {
            if !self.is_inside(&file.key, file.key_defined) {
                continue;
            }
            if is_null(file) {
                files.push((file.key.clone(), None));
            } else if let Some(text) = self.text(file) {
                files.push((file.key.clone(), Some(text)));
            }
        }
        files
    }

    /// Whether a path stays below the directory that it starts from.
    pub fn is_inside(&mut self, path: &str, span: Span) -> bool {
        let normal = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let names = Path::new(path).components().any(|part| matches!(part, Component::Normal(_)));
        let inside = names && Path::new(path).components().all(normal) && !path.contains('\0');
        if !inside {
            let message =
                format!("`{}` is not a path below the case's directory", path.escape_debug());
            self.error("bad-path", message, span, "write a relative path without `..`");
        }
        inside
    }
}

/// What is written as one value, as text.
pub(super) fn scalar(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Text(text) => Some(text.clone()),
        Kind::Bool(_) | Kind::Number(_) => Some(text_of(&node.value())),
        _ => None,
    }
}

/// As much of a span as is on its first line.
pub(super) fn first_line(source: &Source, span: Span) -> Span {
    let text = source.text.get(span.start..).unwrap_or("");
    let line = text.lines().next().unwrap_or("").trim_end();
    let end = span.end.clamp(span.start, span.start + line.len());
    Span { start: span.start, end: if end == span.start { span.start + line.len() } else { end } }
}

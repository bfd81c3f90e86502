//! What the keys of a test file need beyond the field reader: names with their locations, bash
//! text, exit codes, and paths that stay below the case's directory.

use super::Reader;
use crate::suite::{Files, Name};
use std::path::{Component, Path};
use towpath_core::Span;
use towpath_core::fields::FieldType;
use towpath_core::spanned_tree::{Entry, Node};

/// The known keys of one map.
pub(super) type Fields<'n> = towpath_core::fields::Fields<&'static str, &'n Entry>;

impl Reader<'_> {
    pub fn name(&mut self, entry: Option<&Entry>) -> Option<Name> {
        let entry = entry?;
        let text = self.text(entry)?;
        Some(Name { text, span: self.source.first_line(entry.value.defined) })
    }

    /// Bash text: what can be an argument of a program.
    pub fn bash(&mut self, entry: Option<&Entry>) -> Option<String> {
        let entry = entry?;
        let text = self.text(entry)?;
        self.bash_text(text, &entry.value)
    }

    pub fn bash_text(&mut self, text: String, node: &Node) -> Option<String> {
        if text.contains('\0') {
            let span = self.source.first_line(node.defined);
            self.error("bad-text", "a command cannot contain a NUL", span, "");
            return None;
        }
        Some(text)
    }

    /// A whole number that an exit code can be.
    pub fn code(&mut self, entry: Option<&Entry>) -> Option<u8> {
        self.number(entry, FieldType::Described("an exit code, 0 to 255"))
    }

    pub fn whole_number(&mut self, entry: Option<&Entry>) -> Option<u32> {
        self.number(entry, FieldType::Described("a whole number"))
    }

    pub fn names(&mut self, entry: Option<&Entry>, of: &'static str) -> Option<Vec<Name>> {
        let texts = self.texts(entry, FieldType::ListOf(of))?;
        let name = |(text, node): (String, &Node)| Name {
            text,
            span: self.source.first_line(node.defined),
        };
        Some(texts.into_iter().map(name).collect())
    }

    /// The entries of a map with names of its own; null or nothing is an empty map.
    pub fn map_of<'n>(&mut self, entry: Option<&'n Entry>, of: &'static str) -> &'n [Entry] {
        self.map(entry, FieldType::MapOf(of)).unwrap_or_default()
    }

    /// Paths with texts; a path with null is not to be there.
    pub fn files(&mut self, entry: Option<&Entry>) -> Files {
        let mut files = Vec::new();
        for file in self.map_of(entry, "paths and texts") {
            if !self.is_inside(&file.key, file.key_defined) {
                continue;
            }
            if file.is_null() {
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

//! The dotted names of variables.

use serde::{Deserialize, Serialize};

/// A variable's dotted name as an author wrote it: letters, digits, `_`, `-`, `.`; it begins with
/// a letter, a digit or `_` and does not end with a dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VarPath {
    name: String,
    /// Written `{{name?}}`: it may be missing, and is empty then.
    #[serde(skip)]
    is_optional: bool,
}

impl VarPath {
    pub fn new(text: &str) -> Option<VarPath> {
        let starts = text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let inside = text.chars().all(is_name_character);
        let dots = !text.ends_with('.') && !text.contains("..");
        (starts && inside && dots).then(|| VarPath { name: text.to_owned(), is_optional: false })
    }

    pub fn optional(self) -> VarPath {
        VarPath { is_optional: true, ..self }
    }

    pub fn is_optional(&self) -> bool {
        self.is_optional
    }

    pub fn as_str(&self) -> &str {
        &self.name
    }

    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.name.split('.')
    }

    /// The name that must be set for this path to have a value.
    pub fn root(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }
}

impl std::fmt::Display for VarPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

pub(crate) fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

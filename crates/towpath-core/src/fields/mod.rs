//! Reading the fields of a map: one reader for recipes, state machines, test files and settings.
//! Everything it refuses is reported with its span, all problems of a file at once: unknown fields,
//! required ones that are missing, values of another type. What the file is called in messages is
//! an argument, the [`FileKind`], and so is what a map in it is called, the [`Subject`]; what a
//! field means is the caller's.
//!
//! ```
//! use towpath_core::fields::{FieldReader, FieldType, FileKind, Key, Subject};
//! use towpath_core::{Source, parse_toml};
//!
//! const RULES_FILE: FileKind = FileKind {
//!     name: "a rules file",
//!     needs: "`rule`",
//!     field: "key",
//!     unknown_code: "unknown-key",
//!     empty_code: "empty-key",
//!     map: "a table",
//!     or: " or ",
//!     shows_written: true,
//! };
//! static RULE: &[Key] = &[Key::required("match"), Key::optional("times"), Key::optional("on")];
//!
//! let source = Source::new("rules.toml", "times = 0\nonn = true\n");
//! let root = parse_toml(&source).root.expect("it is TOML");
//! let mut reader = FieldReader::new(&source, RULES_FILE, Vec::new());
//! let fields = reader.fields(&root, Subject::Noun("rule"), RULE).expect("it is a table");
//! assert_eq!(reader.text(fields.get("match")), None);
//! assert_eq!(reader.count(fields.get("times")), None);
//!
//! let messages: Vec<&str> = reader.problems.iter().map(|p| p.message.as_str()).collect();
//! assert_eq!(
//!     messages,
//!     [
//!         "unknown key `onn`",
//!         "the rule has no `match`",
//!         "`times` must be a whole number above 0, not `0`",
//!     ]
//! );
//! # assert_eq!(reader.problems[0].labels[0].text, "did you mean `on`?");
//! # assert_eq!(FieldType::Count.describe(" or "), "a whole number above 0");
//! ```

mod field_reader;
mod field_type;
mod file_kind_words;
mod subject;

pub use field_reader::{FieldReader, known_fields};
pub use field_type::{FieldType, LONGEST_TIME};
pub use file_kind_words::FileKind;
pub use subject::Subject;

use crate::nearest;
use crate::spanned_tree::Entry;

/// A row of a table of fields, as far as sorting a map needs it. A plain name is such a row.
pub trait FieldRow: 'static {
    fn name(&self) -> &'static str;

    /// None when the field may be left out.
    fn required(&self) -> Option<Required> {
        None
    }
}

impl FieldRow for &'static str {
    fn name(&self) -> &'static str {
        self
    }
}

/// A field that must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Required {
    /// The code of the problem that it is missing.
    pub code: &'static str,
    /// With this field it may be left out.
    pub unless: Option<&'static str>,
}

impl Required {
    pub const ALWAYS: Required = Required { code: "missing-field", unless: None };
}

/// A row for tables that need nothing but names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub name: &'static str,
    pub required: Option<Required>,
}

impl Key {
    pub const fn optional(name: &'static str) -> Key {
        Key { name, required: None }
    }

    pub const fn required(name: &'static str) -> Key {
        Key { name, required: Some(Required::ALWAYS) }
    }
}

impl FieldRow for Key {
    fn name(&self) -> &'static str {
        self.name
    }

    fn required(&self) -> Option<Required> {
        self.required
    }
}

/// The known fields of one map, each with its row `R`. `E` is the entry, or something that knows
/// more about it, such as the file it is in.
#[derive(Debug)]
pub struct Fields<R: 'static, E> {
    entries: Vec<(&'static R, E)>,
    /// The known fields that unknown ones are probably meant to be.
    meant: Vec<&'static str>,
    /// The required fields that are not there, not even misspelt.
    missing: Vec<(&'static str, Required)>,
}

impl<R: FieldRow, E: Copy> Fields<R, E> {
    /// Sorts the entries of a map into those that the table knows and the rest.
    pub fn sort<'n>(
        entries: impl IntoIterator<Item = E>,
        entry: impl Fn(E) -> &'n Entry,
        table: impl Iterator<Item = &'static R> + Clone,
    ) -> (Fields<R, E>, Vec<E>) {
        let mut fields = Fields { entries: Vec::new(), meant: Vec::new(), missing: Vec::new() };
        let mut unknown = Vec::new();
        for item in entries {
            let key = entry(item).key.as_str();
            match table.clone().find(|row| row.name() == key) {
                Some(row) => fields.entries.push((row, item)),
                None => {
                    fields.meant.extend(nearest(key, table.clone().map(FieldRow::name)));
                    unknown.push(item);
                }
            }
        }
        let required = table.filter_map(|row| Some((row.name(), row.required()?)));
        fields.missing = required.filter(|(name, row)| fields.lacks(name, row)).collect();
        (fields, unknown)
    }

    fn lacks(&self, name: &str, required: &Required) -> bool {
        let there = self.has(name) || self.has_misspelt(name);
        !there && !required.unless.is_some_and(|other| self.has(other))
    }

    /// An unknown field is meant to be this one, so that it is not missing.
    pub fn mean(&mut self, name: &'static str) {
        self.meant.push(name);
        self.missing.retain(|(missing, _)| *missing != name);
    }

    /// The required fields that are not there, with the code of that problem.
    pub fn missing(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.missing.iter().map(|(name, required)| (*name, required.code))
    }

    pub fn get(&self, name: &str) -> Option<E> {
        self.entries.iter().find(|(row, _)| row.name() == name).map(|(_, entry)| *entry)
    }

    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether the field is there under a misspelt name.
    pub fn has_misspelt(&self, name: &str) -> bool {
        self.meant.contains(&name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static R, E)> {
        self.entries.iter().copied()
    }

    /// The same fields with another view of each entry.
    pub fn map<T>(&self, view: impl Fn(E) -> T) -> Fields<R, T> {
        let entries = self.entries.iter().map(|(row, entry)| (*row, view(*entry)));
        let (meant, missing) = (self.meant.clone(), self.missing.clone());
        Fields { entries: entries.collect(), meant, missing }
    }
}

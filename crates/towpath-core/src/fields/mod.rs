//! Reading the fields of a map: one reader for recipes, state machines, test files and settings.
//! Everything it refuses is reported with its span, all problems of a file at once. What the file
//! is called in messages is an argument, the `FileKind`; what a field means is the caller's.

mod field_reader;
mod field_type;
mod file_kind;

pub use field_reader::{FieldReader, known_fields};
pub use field_type::{FieldType, LONGEST_TIME};
pub use file_kind::FileKind;

use crate::nearest;
use crate::node::Entry;

/// A row of a table of fields, as far as sorting a map needs it. A plain name is such a row.
pub trait FieldRow: 'static {
    fn name(&self) -> &'static str;
}

impl FieldRow for &'static str {
    fn name(&self) -> &'static str {
        self
    }
}

/// The known fields of one map, each with its row `R`. `E` is the entry, or something that knows
/// more about it, such as the file it is in.
#[derive(Debug)]
pub struct Fields<R: 'static, E> {
    entries: Vec<(&'static R, E)>,
    /// The known fields that unknown ones are probably meant to be.
    meant: Vec<&'static str>,
}

impl<R: FieldRow, E: Copy> Fields<R, E> {
    /// Sorts the entries of a map into those that the table knows and the rest.
    pub fn sort<'n>(
        entries: impl IntoIterator<Item = E>,
        entry: impl Fn(E) -> &'n Entry,
        table: impl Iterator<Item = &'static R> + Clone,
    ) -> (Fields<R, E>, Vec<E>) {
        let mut fields = Fields { entries: Vec::new(), meant: Vec::new() };
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
        (fields, unknown)
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
        Fields { entries: entries.collect(), meant: self.meant.clone() }
    }
}

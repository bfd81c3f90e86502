//! From the text of a test file to its cases, with all its problems at once, each with its span.
//! Nothing outside the text is looked at: whether the recipe has the steps that are named is found
//! out by the case that names them.

mod agent_call_list;
mod answers_and_stubs;
mod case_and_defaults;
mod expect;
mod field_values;
mod machine_flags;
mod schema;
#[cfg(test)]
mod tests;

pub use schema::test_file_schema;

use crate::suite::{Case, Suite};
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use towpath_core::fields::{FieldReader, FieldType, Fields, FileKind, Key, Required, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, Span};
use towpath_recipe::parse_yaml;

/// How messages name a test file and its parts.
const TEST_FILE: FileKind = FileKind {
    name: "a test file",
    needs: "`cases`",
    field: "key",
    unknown_code: "unknown-key",
    empty_code: "empty-key",
    map: "a map",
    or: ", ",
    shows_written: false,
};

/// The code of a file without cases.
const NO_CASES: &str = "no-cases";

const FILE_KEYS: &[Key] = &[
    Key::optional("recipe"),
    Key::optional("defaults"),
    Key { name: "cases", required: Some(Required { code: NO_CASES, unless: None }) },
];

/// Reads a test file. No suite when one of the problems is an error.
pub fn read(source: &Arc<Source>, path: &Path) -> (Option<Suite>, Vec<Diagnostic>) {
    let tree = parse_yaml(source, TEST_FILE);
    let mut reader = Reader(FieldReader::new(source, TEST_FILE, tree.problems));
    let root = tree.root.filter(|root| !root.is_null());
    let suite = root.as_ref().and_then(|root| reader.suite(root, path));
    let mut problems = reader.0.problems;
    let mut seen = HashSet::new();
    problems.retain(|p| seen.insert((p.message.clone(), p.labels.first().map(|l| l.span))));
    problems.sort_by_key(|p| p.labels.first().map(|l| l.span.start));
    let broken = problems.iter().any(Diagnostic::is_error);
    (suite.filter(|_| !broken), problems)
}

/// The field reader with what only test files have.
struct Reader<'a>(FieldReader<'a>);

impl<'a> Deref for Reader<'a> {
    type Target = FieldReader<'a>;

    fn deref(&self) -> &FieldReader<'a> {
        &self.0
    }
}

impl<'a> DerefMut for Reader<'a> {
    fn deref_mut(&mut self) -> &mut FieldReader<'a> {
        &mut self.0
    }
}

impl Reader<'_> {
    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span, label: &str) {
        self.0.error(code, message, span, label);
    }

    fn suite(&mut self, root: &Node, path: &Path) -> Option<Suite> {
        let fields = self.fields(root, Subject::Noun("test file"), FILE_KEYS)?;
        let recipe = self.name(fields.get("recipe"));
        let defaults = fields.get("defaults").filter(|entry| !entry.is_null());
        if let Some(entry) = defaults {
            self.case_fields(
                &entry.value,
                Subject::Key("defaults"),
                case_and_defaults::DEFAULT_KEYS,
            );
        }
        let cases = self.cases(&fields, defaults.map(|entry| &entry.value));
        Some(Suite { source: Arc::clone(self.source), path: path.to_owned(), recipe, cases })
    }

    fn cases(&mut self, fields: &Fields<Key, &Entry>, defaults: Option<&Node>) -> Vec<Case> {
        let Some(entry) = fields.get("cases") else { return Vec::new() };
        let items = match &entry.value.kind {
            Kind::List(items) if !items.is_empty() => items,
            Kind::List(_) | Kind::Null => {
                let message = "the file has no cases";
                self.error(NO_CASES, message, entry.key_defined, "nothing is listed here");
                return Vec::new();
            }
            _ => {
                self.wrong_type(entry, FieldType::ListOf("cases"));
                return Vec::new();
            }
        };
        let mut names: Vec<(String, Span)> = Vec::new();
        let mut cases = Vec::new();
        for item in items {
            let merged =
                defaults.map_or_else(|| item.clone(), |d| case_and_defaults::merged(d, item));
            let Some((case, span)) = self.case(&merged) else { continue };
            if let Some((_, first)) = names.iter().find(|(name, _)| *name == case.name) {
                let message = format!("two cases are named `{}`", case.name);
                let problem = Diagnostic::error("same-name", message);
                let problem = problem.at(self.source, span, "again here");
                let problem = problem.at(self.source, *first, "first here");
                self.problem(problem);
            }
            names.push((case.name.clone(), span));
            cases.push(case);
        }
        cases
    }
}

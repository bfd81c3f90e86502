//! Tool recipes as TOML files, in the format of tsuku.
//!
//! ```toml
//! [metadata]
//! name = "hexyl"
//!
//! [[steps]]
//! action = "cargo_install"
//! crate = "hexyl"
//!
//! [verify]
//! command = "hexyl --version"
//! pattern = "hexyl {version}"
//! ```
//!
//! Reading is strict: a table of keys, a data file, decides what is known and what its value must be; all
//! problems of a file are reported at once, each with its location. What is written is read back as the
//! same value.

use crate::recipe_values::check_value;
use crate::tool_recipe::ToolRecipe;
use std::sync::{Arc, LazyLock};
use towpath_core::fields::{FieldReader, FieldRow, FieldType, FileKind, Required, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, data_rows, data_section, parse_toml};

const RECIPE_FILE: FileKind = FileKind {
    name: "a tool recipe",
    needs: "`metadata`, `steps` and `verify`",
    field: "key",
    unknown_code: "unknown-key",
    empty_code: "empty-key",
    map: "a table",
    or: ", ",
    shows_written: true,
};
const KEYS: &str = include_str!("recipe_keys.txt");

/// A key that a table may have.
#[derive(Debug, Clone)]
struct KeyRow {
    table: &'static str,
    name: &'static str,
    needed: bool,
    /// A word, and what it is followed by.
    kind: &'static str,
    of: &'static str,
    /// Of a choice.
    words: Vec<&'static str>,
}

impl FieldRow for KeyRow {
    fn name(&self) -> &'static str {
        self.name
    }

    fn required(&self) -> Option<Required> {
        self.needed.then_some(Required::ALWAYS)
    }
}

type Tables = Vec<(&'static str, Vec<KeyRow>)>;

static TABLES: LazyLock<Tables> = LazyLock::new(|| tables("keys"));
/// By action. Every step has the keys of all steps, too.
static STEPS: LazyLock<Tables> = LazyLock::new(|| {
    let mut steps = tables("steps");
    let all: Vec<&KeyRow> = TABLES.iter().flat_map(|(_, rows)| rows).collect();
    let of_all = all.iter().filter(|row| row.table == "step").map(|row| (*row).clone());
    for (_, rows) in &mut steps {
        rows.extend(of_all.clone());
    }
    steps
});
static ACTIONS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| STEPS.iter().map(|(action, _)| *action).collect());

fn tables(section: &str) -> Tables {
    let mut tables = Tables::new();
    for [table, name, needed, value] in data_rows(data_section(KEYS, section)) {
        let (kind, of) = value.split_once(' ').unwrap_or((value, ""));
        let words = of.split(' ').collect();
        let row = KeyRow { table, name, needed: !needed.is_empty(), kind, of, words };
        match tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, rows)) => rows.push(row),
            None => tables.push((table, vec![row])),
        }
    }
    tables
}

/// The words for actions of other programs, with what they need.
fn foreign_actions() -> impl Iterator<Item = [&'static str; 2]> {
    data_rows(data_section(KEYS, "foreign"))
}

/// The need of a step of another program, which this one does not have.
pub(crate) fn needed_by(action: &str) -> &'static str {
    let found = foreign_actions().find(|[known, _]| *known == action);
    found.map_or("another program", |[_, what]| what)
}

/// Reads a recipe, or reports everything that is wrong with it.
pub fn read_recipe(source: &Arc<Source>) -> Result<ToolRecipe, Vec<Diagnostic>> {
    let tree = parse_toml(source);
    let mut reader = RecipeReader { fields: FieldReader::new(source, RECIPE_FILE, tree.problems) };
    let value = tree.root.map(|mut root| {
        prepare(&mut root);
        reader.table(&root, Subject::Noun("tool recipe"), &TABLES, "recipe");
        (root.span, root.value())
    });
    let mut problems = reader.fields.problems;
    problems.sort_by_key(|problem| problem.labels.first().map(|label| label.span.start));
    let Some((span, value)) = value.filter(|_| problems.is_empty()) else { return Err(problems) };
    serde_json::from_value(value).map_err(|error| {
        vec![Diagnostic::error("bad-value", error.to_string()).at(source, span, "")]
    })
}

/// The recipe as TOML that [`read_recipe`] reads back as the same value.
pub fn write_recipe(recipe: &ToolRecipe) -> String {
    toml::to_string(recipe).expect("a recipe has only strings, numbers, booleans, lists and tables")
}

/// Leaves out empty strings, which some write for what they leave open, and puts steps of other programs in
/// our words.
fn prepare(node: &mut Node) {
    match &mut node.kind {
        Kind::List(items) => items.iter_mut().for_each(prepare),
        Kind::Map(entries) => {
            let is_empty =
                |entry: &Entry| matches!(&entry.value.kind, Kind::Text(text) if text.is_empty());
            entries.retain(|entry| !is_empty(entry));
            for entry in entries.iter_mut() {
                prepare(&mut entry.value);
            }
            let action = entries.iter().find(|entry| entry.key == "action");
            let Some(Kind::Text(word)) = action.map(|entry| entry.value.kind.clone()) else {
                return;
            };
            if foreign_actions().any(|[known, _]| known == word) {
                entries.retain(|entry| matches!(entry.key.as_str(), "action" | "when"));
                let index = entries.iter().position(|entry| entry.key == "action").unwrap_or(0);
                let mut name = entries[index].clone();
                "name".clone_into(&mut name.key);
                entries[index].value.kind = Kind::Text("foreign".to_owned());
                entries.push(name);
            }
        }
        _ => {}
    }
}

struct RecipeReader<'a> {
    fields: FieldReader<'a>,
}

impl RecipeReader<'_> {
    /// Checks a table and everything in it.
    fn table(&mut self, node: &Node, subject: Subject<'_>, tables: &'static Tables, name: &str) {
        let Some((_, rows)) = tables.iter().find(|(table, _)| *table == name) else { return };
        let Some(keys) = self.fields.fields(node, subject, rows) else { return };
        for (row, entry) in keys.iter() {
            self.value(row, entry);
        }
        if name == "verify" {
            let is_output =
                |entry: &Entry| matches!(&entry.value.kind, Kind::Text(word) if word == "output");
            let mode = keys.get("mode").filter(|mode| is_output(mode));
            if let Some(mode) = mode.filter(|_| !keys.has("reason") && !keys.has_misspelt("reason"))
            {
                let message = "`mode = \"output\"` needs a `reason`";
                self.fields.error("missing-field", message, mode.key_defined, "add `reason`");
            }
        }
    }

    fn value(&mut self, row: &'static KeyRow, entry: &Entry) {
        match row.kind {
            "ignored" | "action" => {}
            "table" => self.table(&entry.value, Subject::Key(&entry.key), &TABLES, row.of),
            "steps" => self.steps(entry),
            "list" => {
                let texts = self.fields.texts(entry, FieldType::TextList).unwrap_or_default();
                if texts.is_empty() && row.needed {
                    self.bad(&entry.value, &entry.key, "it is empty");
                }
                for (text, node) in &texts {
                    self.text(row.of, &entry.key, text, node);
                }
            }
            "binaries" => self.binaries(entry),
            "map" => {
                let pairs = self.fields.map(entry, FieldType::TextMap).unwrap_or_default();
                for pair in pairs {
                    self.string("line", pair);
                }
            }
            "choice" => {
                self.fields.choice(entry, &row.words);
            }
            "words" => match &entry.value.kind {
                Kind::List(items) => items.iter().for_each(|item| {
                    let value = item.clone();
                    self.fields.choice(&Entry { value, ..entry.clone() }, &row.words);
                }),
                _ => {
                    self.fields.choice(entry, &row.words);
                }
            },
            "count" => {
                self.fields.count_or_zero(entry);
            }
            "bool" => {
                self.fields.bool(entry);
            }
            "exit" => {
                let expected = FieldType::Described("an exit code from 0 to 255");
                let code = self.fields.number::<i32>(entry, expected);
                if code.is_some_and(|code| !(0..=255).contains(&code)) {
                    self.fields.wrong_type(entry, expected);
                }
            }
            kind => self.string(kind, entry),
        }
    }

    fn steps(&mut self, entry: &Entry) {
        let Some(nodes) = self.fields.list(entry, FieldType::ListOf("steps")) else { return };
        if nodes.is_empty() {
            let message = "a recipe needs at least one step";
            self.fields.error("missing-field", message, entry.key_defined, "");
        }
        for node in nodes {
            let Some(entries) = self.fields.entries(node, Subject::Noun("step")) else { continue };
            let action = entries.iter().find(|entry| entry.key == "action");
            if action.is_none() {
                let span = self.fields.source.line_from(node.span.start);
                let message = "the step has no `action`";
                self.fields.error("missing-field", message, span, "add `action`");
            }
            if let Some(word) = self.fields.choice(action, &ACTIONS) {
                self.table(node, Subject::Noun(&format!("{word} step")), &STEPS, word);
            }
        }
    }

    /// Paths, or tables of a path and the name that it is installed by.
    fn binaries(&mut self, entry: &Entry) {
        let Some(items) = self.fields.list(entry, FieldType::ListOf("programs")) else { return };
        if items.is_empty() {
            self.bad(&entry.value, &entry.key, "it is empty");
        }
        for item in items {
            match &item.kind {
                Kind::Map(pairs) => pairs.iter().for_each(|pair| self.string("path", pair)),
                _ => match item.scalar() {
                    Some(text) => self.text("path", &entry.key, &text, item),
                    None => {
                        self.fields.wrong_node(item, &format!("`{}`", entry.key), FieldType::Text);
                    }
                },
            }
        }
    }

    fn string(&mut self, kind: &str, entry: &Entry) {
        if let Some(text) = self.fields.string(entry) {
            self.text(kind, &entry.key, text, &entry.value);
        }
    }

    fn text(&mut self, kind: &str, name: &str, text: &str, node: &Node) {
        if let Err(reason) = check_value(kind, text) {
            self.bad(node, name, &reason);
        }
    }

    fn bad(&mut self, node: &Node, name: &str, reason: &str) {
        let span = self.fields.source.first_line(node.defined);
        self.fields.error("bad-value", format!("`{name}`: {reason}"), span, "");
    }
}

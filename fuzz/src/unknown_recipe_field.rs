//! An unknown field, written into a valid recipe where a user could have written it: before the
//! first field of the recipe and of each step, whether the steps are a list or a machine's map.
//! Fields that are written in unusual ways (after an anchor or a tag, behind `?`, brought along by
//! an alias) are left alone.

use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source};
use towpath_recipe::field_table::RECIPE_FILE;
use towpath_recipe::parse_yaml;
use towpath_recipe::read;

/// A name that is near no field of any section.
pub const FIELD: &str = "zzz_unknown";

/// Where a field can be added to a map.
#[derive(Debug, Clone)]
pub struct Position {
    at: usize,
    /// What ends the new field: a comma, or a new line as far in as the next field is.
    end: String,
}

impl Position {
    pub fn insert(&self, text: &str) -> String {
        format!("{}{FIELD}: 1{}{}", &text[..self.at], self.end, &text[self.at..])
    }
}

/// The positions in a recipe's own map and in those of its steps.
pub fn positions(text: &str) -> Vec<Position> {
    let Some(root) = parse_yaml(&Source::new("r.yaml", text), RECIPE_FILE).root else {
        return Vec::new();
    };
    let Kind::Map(recipe) = &root.kind else { return Vec::new() };
    let steps = recipe.iter().find(|entry| entry.key == "steps" && is_own(entry));
    let steps: Vec<&Node> = match steps.map(|entry| &entry.value) {
        Some(Node { kind: Kind::List(steps), span, defined }) if span == defined => {
            steps.iter().collect()
        }
        Some(Node { kind: Kind::Map(steps), span, defined }) if span == defined => steps
            .iter()
            .filter(|step| is_own(step) && step.key != "$include")
            .map(|step| &step.value)
            .collect(),
        _ => Vec::new(),
    };
    std::iter::once(&root).chain(steps).filter_map(|map| position(text, map)).collect()
}

fn is_own(entry: &Entry) -> bool {
    entry.key_span == entry.key_defined
}

fn position(text: &str, map: &Node) -> Option<Position> {
    let Kind::Map(entries) = &map.kind else { return None };
    if map.span != map.defined {
        return None;
    }
    if text[map.defined.start..].starts_with('{') {
        return Some(Position { at: map.defined.start + 1, end: ", ".to_owned() });
    }
    let at =
        entries.iter().filter(|entry| is_own(entry)).map(|entry| entry.key_span.start).min()?;
    let line = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let before = &text[line..at];
    let usual = before.chars().all(|c| matches!(c, ' ' | '-')) && !before.starts_with("---");
    usual.then(|| Position { at, end: format!("\n{}", " ".repeat(before.len())) })
}

/// The text is refused because of the field.
#[track_caller]
pub fn reported(text: &str, field: &str) {
    reported_by(&read(&Source::new("r.yaml", text)).problems, field);
}

#[track_caller]
pub fn reported_by(problems: &[Diagnostic], field: &str) {
    let (steps, machine) =
        (format!("unknown field `{field}`"), format!("Unknown field '{field}' in "));
    let is_reported = |p: &Diagnostic| p.message == steps || p.message.starts_with(&machine);
    let found = problems.iter().any(|p| p.is_error() && is_reported(p));
    assert!(found, "`{field}` was passed over");
}

//! What names may consist of, for the fields that have or contain one.

use crate::field_table::{Field, Section};
use serde_json::{Map, Value, json};

/// The name of a step.
const STEP: &str = "^[A-Za-z0-9_-]+$";
/// The name of a variable: letters of any script, which not every validator knows, digits, `_` and `-`.
const VARIABLE: &str = r"^[^\s!-/:-@\[-^`{-~][^\s!-,./:-@\[-^`{-~]*$";
/// Small letters and digits, with `-` between words.
const KEBAB_CASE: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";

/// Adds the pattern of a field's names to its property: of the value, of the items, or of the keys.
pub(super) fn add(field: &Field, property: &mut Map<String, Value>) {
    use Section::{Machine, Recipe, Step};
    let (keyword, pattern) = match (field.section, field.name) {
        (Recipe, "name") => ("pattern", json!(r"\S")),
        (Step, "id") => ("pattern", json!(STEP)),
        (Machine, "id") => ("pattern", json!(KEBAB_CASE)),
        (Step, "output") => ("pattern", json!(VARIABLE)),
        (Recipe, "required_context") => {
            let items = json!({ "type": ["string", "number", "boolean"], "pattern": VARIABLE });
            ("items", items)
        }
        (Recipe | Step, "context") => ("propertyNames", json!({ "pattern": VARIABLE })),
        _ => return,
    };
    property.insert(keyword.to_owned(), pattern);
}

//! The values that a condition had when it was looked at, as short text: later steps change the
//! variables, and a user wants to know why a step was skipped.

use towpath_core::{Map, Value, lookup};
use towpath_recipe::condition::Condition;

/// So many characters of a value are kept.
const LONGEST: usize = 200;

/// One variable that a condition read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionValue {
    /// As the condition writes it: `review.status`.
    pub name: String,
    /// As JSON, the beginning of a long one; none where nothing had set it.
    pub value: Option<String>,
}

pub(crate) fn values_read(condition: &Condition, context: &Map) -> Vec<ConditionValue> {
    let mut values: Vec<ConditionValue> = Vec::new();
    for name in condition.names() {
        if values.iter().all(|known| known.name != name.path.as_str()) {
            let value = lookup(context, &name.path).map(shown);
            values.push(ConditionValue { name: name.path.as_str().to_owned(), value });
        }
    }
    values
}

fn shown(value: &Value) -> String {
    let whole = match value {
        // Of a long text only the beginning is looked at.
        Value::String(text) => Value::String(text.chars().take(LONGEST + 1).collect()).to_string(),
        other => other.to_string(),
    };
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

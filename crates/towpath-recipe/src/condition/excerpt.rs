//! Pieces of a condition or of a value, cut to fit into one line of a message. Nothing here
//! decides anything.

use towpath_core::Value;

const MAX_CHARS: usize = 40;

/// The text on one line, control characters escaped, cut with `…` when long.
pub(super) fn excerpt(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.trim().chars();
    for c in chars.by_ref().take(MAX_CHARS) {
        match c.is_control() {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// The kind of a value, as the end of a sentence: "`x` is …".
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null (not set)",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

//! Looking into a program's JSON. What is not there, or of another type, is simply not there.

use serde_json::Value;

/// The text at a JSON pointer such as `/part/text`.
pub(crate) fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The count at a JSON pointer.
pub(crate) fn count_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

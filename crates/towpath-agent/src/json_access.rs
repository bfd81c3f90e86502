//! Looking into a program's JSON. What is not there, or of another type, is simply not there.

use serde_json::Value;
use towpath_core::Usage;

/// The text at a JSON pointer such as `/part/text`.
pub(crate) fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// What a program counts as `input_tokens` and `output_tokens`, where input is all that the model
/// read, cached or not, and nothing reports a price.
pub(crate) fn tokens(counts: &Value) -> Option<Usage> {
    let input_tokens = count_at(counts, "/input_tokens");
    let output_tokens = count_at(counts, "/output_tokens");
    let known = input_tokens.is_some() || output_tokens.is_some();
    known.then_some(Usage { input_tokens, output_tokens, cost_usd: None })
}

/// The count at a JSON pointer.
pub(crate) fn count_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

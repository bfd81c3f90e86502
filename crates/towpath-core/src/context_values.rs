//! Values of a recipe's context. They are JSON values whose numbers keep their text: `1.10` stays
//! `1.10` from the file to the shell.

use crate::VarPath;

pub type Value = serde_json::Value;
pub type Map = serde_json::Map<String, Value>;
pub type Number = serde_json::Number;

/// What a value looks like in a shell, a prompt or a document: strings as they are, numbers in
/// their own text, lists and maps as compact JSON, null as nothing.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// Finds a value by its dotted path. A key that is the whole dotted name wins over walking;
/// a number walks into a list.
pub fn lookup<'a>(scope: &'a Map, path: &VarPath) -> Option<&'a Value> {
    if let Some(value) = scope.get(path.as_str()) {
        return Some(value);
    }
    let mut segments = path.segments();
    let mut value = scope.get(segments.next()?)?;
    for segment in segments {
        value = match value {
            Value::Object(map) => map.get(segment)?,
            Value::Array(list) => list.get(segment.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// A number, if the text is written as JSON writes numbers, with its text kept.
pub fn number(text: &str) -> Option<Value> {
    let first = text.bytes().next()?;
    let last = text.bytes().last()?;
    if !(first == b'-' || first.is_ascii_digit()) || !last.is_ascii_digit() {
        return None;
    }
    serde_json::from_str::<Number>(text).ok()?;
    // Parsing again would write `1e3` as `1e+3`.
    Some(Value::Number(Number::from_string_unchecked(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_walks_maps_and_lists() {
        let Value::Object(scope) = json!({"a": {"b": [1, {"c": "x"}]}, "a.z": 9}) else { panic!() };
        let at = |p: &str| lookup(&scope, &VarPath::new(p).unwrap()).map(text_of);
        assert_eq!(at("a.b.1.c").as_deref(), Some("x"));
        assert_eq!(at("a.z").as_deref(), Some("9"));
        assert_eq!(at("a.b.9"), None);
        assert_eq!(at("nope.b"), None);
    }
}

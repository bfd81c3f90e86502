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

/// Gives the text after `=` of a `--set` its type: JSON object or list, `true`/`false`, a number
/// as JSON writes one, else text. `007` and `+5` stay text, so that nothing of them is lost.
pub fn parse_set_value(text: &str) -> Value {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(trimmed)
    {
        return value;
    }
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    }
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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    #[error("`{0}` has no `=`")]
    NoEquals(String),
    #[error("`{0}` has no name before `=`")]
    NoName(String),
}

/// Splits and types one `--set NAME=VALUE`. The one parser for every command that takes it.
pub fn parse_set(argument: &str) -> Result<(String, Value), SetError> {
    let (name, value) =
        argument.split_once('=').ok_or_else(|| SetError::NoEquals(argument.to_owned()))?;
    let name = name.trim();
    if name.is_empty() {
        return Err(SetError::NoName(argument.to_owned()));
    }
    Ok((name.to_owned(), parse_set_value(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn set_values_follow_their_table() {
        let rows = [
            ("hello", json!("hello")),
            ("5", json!(5)),
            ("true", json!(true)),
            ("TRUE", json!("TRUE")),
            ("{\"a\": [1]}", json!({"a": [1]})),
            ("[1,", json!("[1,")),
            ("", json!("")),
            ("007", json!("007")),
            ("+5", json!("+5")),
            (" 5", json!(" 5")),
            ("2.1.0", json!("2.1.0")),
            ("null", json!("null")),
            ("-", json!("-")),
        ];
        for (text, value) in rows {
            assert_eq!(parse_set_value(text), value, "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_text() {
        for text in ["1.10", "0.75", "-3", "1e3", "12345678901234567890123"] {
            let value = parse_set_value(text);
            assert!(value.is_number(), "{text}");
            assert_eq!(text_of(&value), text);
        }
        assert_eq!(text_of(&parse_set_value("[1.10, 2]")), "[1.10,2]");
    }

    #[test]
    fn set_needs_a_name_and_an_equals_sign() {
        assert_eq!(parse_set("foo"), Err(SetError::NoEquals("foo".into())));
        assert_eq!(parse_set("=x"), Err(SetError::NoName("=x".into())));
        assert_eq!(parse_set("a=b=c"), Ok(("a".into(), json!("b=c"))));
    }

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

//! The argument of `--set NAME=VALUE`: how it is split, and which type its value gets.

use crate::Value;
use crate::context_values::number;

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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    #[error("`{0}` has no `=`")]
    NoEquals(String),
    #[error("`{0}` has no name before `=`")]
    NoName(String),
    #[error("`{0}`: write NAME=VALUE, without a blank before `=`")]
    Blank(String),
}

/// Splits and types one `--set NAME=VALUE`. The one parser for every command that takes it.
pub fn parse_set(argument: &str) -> Result<(String, Value), SetError> {
    let (name, value) =
        argument.split_once('=').ok_or_else(|| SetError::NoEquals(argument.to_owned()))?;
    match name.trim() {
        "" => Err(SetError::NoName(argument.to_owned())),
        _ if name.ends_with(char::is_whitespace) => Err(SetError::Blank(argument.to_owned())),
        name => Ok((name.to_owned(), parse_set_value(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_of;
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
        assert_eq!(parse_set("who = Ann"), Err(SetError::Blank("who = Ann".into())));
        assert_eq!(parse_set("a=b=c"), Ok(("a".into(), json!("b=c"))));
    }
}

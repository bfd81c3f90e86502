//! Whether a value is what a case expects. Scalars are compared as the text they would be in a
//! shell, since what a step printed is always text; texts without the line breaks at their end.

use regex::Regex;
use towpath_core::{Value, text_of};

#[derive(Debug, Clone, Default)]
pub struct Matcher {
    pub is: Option<Value>,
    pub contains: Vec<String>,
    pub lacks: Vec<String>,
    pub matches: Option<Regex>,
}

/// One way in which a value is not what was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// Expected and got differ, as texts.
    Differs(String, String),
    /// What should be (or not be) in it, and the whole of it.
    Lies(String, String),
}

impl Matcher {
    pub fn is(value: Value) -> Matcher {
        Matcher { is: Some(value), ..Matcher::default() }
    }

    pub fn misses(&self, got: &Value) -> Vec<Miss> {
        let text = plain(&text_of(got)).to_owned();
        let mut misses = Vec::new();
        if let Some(expected) = &self.is
            && !same(expected, got)
        {
            misses.push(Miss::Differs(written(expected), written(got)));
        }
        let mut lies = |so: bool, what: String| {
            if !so {
                misses.push(Miss::Lies(what, text.clone()));
            }
        };
        for part in &self.contains {
            lies(text.contains(plain(part)), format!("does not contain {part:?}"));
        }
        for part in &self.lacks {
            lies(!text.contains(plain(part)), format!("contains {part:?}"));
        }
        if let Some(regex) = &self.matches {
            lies(regex.is_match(&text), format!("does not match /{regex}/"));
        }
        misses
    }

    pub fn misses_text(&self, got: &str) -> Vec<Miss> {
        self.misses(&Value::String(got.to_owned()))
    }
}

fn plain(text: &str) -> &str {
    text.trim_end_matches('\n')
}

fn same(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let equal = |(key, a): (&String, &Value)| b.get(key).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(equal)
        }
        (Value::Array(_) | Value::Object(_), Value::String(text)) => {
            // What a step printed is text, also where it is JSON.
            serde_json::from_str::<Value>(text).is_ok_and(|got| same(expected, &got))
        }
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => false,
        (Value::Null, other) | (other, Value::Null) => other.is_null(),
        (a, b) => plain(&text_of(a)) == plain(&text_of(b)),
    }
}

/// A value as it is shown in a difference.
fn written(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(value).expect("a JSON value can be written")
        }
        other => plain(&text_of(other)).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_is_what_a_user_takes_for_equal() {
        let rows = [
            (json!("a"), json!("a\n"), true),
            (json!(3), json!("3"), true),
            (json!(true), json!("true"), true),
            (json!("1.10"), json!(1.1), false),
            (json!({"a": 1}), json!("{\"a\": 1}"), true),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
            (json!([1, 2]), json!([2, 1]), false),
            (json!(null), json!(null), true),
            (json!(null), json!(""), false),
            (json!(""), json!(null), false),
        ];
        for (expected, got, equal) in rows {
            let misses = Matcher::is(expected.clone()).misses(&got);
            assert_eq!(misses.is_empty(), equal, "{expected} {got}");
        }
    }

    #[test]
    fn every_part_is_looked_for() {
        let matcher = Matcher {
            contains: vec!["one".into(), "four".into()],
            lacks: vec!["two".into()],
            matches: Some(Regex::new("^three").unwrap()),
            is: None,
        };
        let misses = matcher.misses_text("one two\n");
        let miss = |what: &str| Miss::Lies(what.to_owned(), "one two".to_owned());
        let expected = ["does not contain \"four\"", "contains \"two\"", "does not match /^three/"];
        assert_eq!(misses, expected.map(miss));
    }
}

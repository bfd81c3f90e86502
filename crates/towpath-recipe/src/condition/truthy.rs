//! Being true, equality, order and membership of values. Values that cannot be compared are not an
//! error: every order of theirs is false.

use super::numbers;
use super::tree::Comparison;
use std::cmp::Ordering;
use towpath_core::{Value, number, text_of};

/// Everything counts as true but null, false, zero and empty values.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(n) => numbers::float(n.as_str()) != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

pub(super) fn compare(comparison: Comparison, left: &Value, right: &Value) -> bool {
    match comparison {
        Comparison::Equal => equal(left, right),
        Comparison::NotEqual => !equal(left, right),
        Comparison::Less => order(left, right).is_some_and(Ordering::is_lt),
        Comparison::LessEqual => order(left, right).is_some_and(Ordering::is_le),
        Comparison::Greater => order(left, right).is_some_and(Ordering::is_gt),
        Comparison::GreaterEqual => order(left, right).is_some_and(Ordering::is_ge),
        Comparison::In => contains(right, left),
        Comparison::NotIn => !contains(right, left),
    }
}

/// What a comparison gives while a side is not known, where every value of that side gives the same:
/// only numbers and strings have an order, and only strings and lists contain anything.
pub(super) fn decided(
    comparison: Comparison,
    left: Option<&Value>,
    right: Option<&Value>,
) -> Option<bool> {
    let orderless = |side: Option<&Value>| side.is_some_and(|v| !v.is_number() && !v.is_string());
    let contains_nothing = match right {
        Some(Value::Array(list)) => list.is_empty(),
        Some(right) => !right.is_string(),
        None => false,
    };
    match comparison {
        Comparison::Equal | Comparison::NotEqual => None,
        Comparison::In => contains_nothing.then_some(false),
        Comparison::NotIn => contains_nothing.then_some(true),
        _ => (orderless(left) || orderless(right)).then_some(false),
    }
}

/// Equality across types: a number and a string that spells one compare as numbers, null equals only
/// null, every other mix compares by text.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(n), Value::String(text)) | (Value::String(text), Value::Number(n)) => {
            number(text).is_some() && numbers::order(n.as_str(), text).is_some_and(Ordering::is_eq)
        }
        (Value::Null, _) | (_, Value::Null) => a.is_null() && b.is_null(),
        // Other mixes can only be equal where one side is a string itself.
        (Value::String(text), other) | (other, Value::String(text)) if !other.is_string() => {
            *text == text_of(other)
        }
        _ => same(a, b),
    }
}

/// Equality within lists and maps: the same types all the way down, numbers by their size, the
/// order of keys without meaning.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            numbers::order(a.as_str(), b.as_str()).is_some_and(Ordering::is_eq)
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Numbers by size, strings by their bytes, a string that spells a number against a number by size;
/// nothing else has an order.
pub(super) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => numbers::order(a.as_str(), b.as_str()),
        (Value::Number(a), Value::String(b)) => numbers::order(a.as_str(), b),
        (Value::String(a), Value::Number(b)) => numbers::order(a, b.as_str()),
        _ => None,
    }
}

/// A string contains the text of a scalar; a list contains what equals one of its elements; nothing
/// else contains anything. A variable that is not set is in no string: its own text is empty, and a
/// condition on it would always be true.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::String(whole), Value::Number(_) | Value::Bool(_)) => whole.contains(&text_of(part)),
        (Value::Array(list), part) => list.iter().any(|element| equal(element, part)),
        _ => false,
    }
}

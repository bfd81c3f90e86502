//! What the functions and methods do. Methods take strings and nothing else: a value that is not
//! set would otherwise pass for an empty string, and a condition on it would be true or false by
//! accident. A string that is no number is an error, never a silent zero.

use super::EvalError;
use super::evaluate::{Evaluated, Evaluation};
use super::excerpt::{excerpt, kind_of};
use super::functions::{Function, Method};
use super::numbers::{self, NoInteger};
use super::tree::Node;
use super::truthy::{order, truthy};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;
use towpath_core::{Value, text_of};

impl<'a> Evaluation<'a> {
    pub(super) fn call(&mut self, function: Function, nodes: &'a [Node]) -> Evaluated<'a> {
        let mut values = self.values(nodes)?;
        let range = &nodes[0].range;
        if !matches!(function, Function::Len | Function::Bool) {
            self.read_values(&values, range)?;
        }
        let made = match function {
            Function::Min => return Ok(extreme(values, Ordering::Less)),
            Function::Max => return Ok(extreme(values, Ordering::Greater)),
            Function::Str => return self.str(values.swap_remove(0), range),
            Function::Int => Value::from(int(&values[0], range)?),
            Function::Float => float(&values[0], range)?,
            Function::Bool => Value::Bool(truthy(&values[0])),
            Function::Len => Value::from(length(&values[0])),
        };
        Ok(Cow::Owned(made))
    }

    fn str(&mut self, value: Cow<'a, Value>, range: &Range<usize>) -> Evaluated<'a> {
        if value.is_string() {
            return Ok(value);
        }
        let text = text_of(&value);
        self.make(text.len(), range)?;
        Ok(Cow::Owned(Value::String(text)))
    }

    /// The range is the receiver with its call, for what cannot be blamed on one argument.
    pub(super) fn method(
        &mut self,
        method: Method,
        text: &str,
        nodes: &'a [Node],
        range: Range<usize>,
    ) -> Evaluated<'a> {
        let values = self.values(nodes)?;
        self.read(text.len(), &range)?;
        if method == Method::Join {
            return self.join(text, &values[0], &nodes[0].range);
        }
        let mut arguments = Vec::with_capacity(values.len());
        for (value, node) in values.iter().zip(nodes) {
            let Value::String(argument) = &**value else {
                return Err(self.not_a_string(method.name(), value, node.range.clone()));
            };
            arguments.push(argument.as_str());
        }
        let made = match (method, arguments.as_slice()) {
            (Method::StartsWith, [prefix]) => Value::Bool(text.starts_with(prefix)),
            (Method::EndsWith, [suffix]) => Value::Bool(text.ends_with(suffix)),
            (Method::Count, [part]) => Value::from(text.matches(part).count()),
            (Method::Find, [part]) => text.find(part).map_or(Value::from(-1), Value::from),
            (Method::Split, []) => self.pieces(text.split_whitespace(), &range)?,
            (Method::Split, [""]) => {
                let message = "`split` needs a separator that is not empty".to_owned();
                return Err(EvalError { range: nodes[0].range.clone(), message });
            }
            (Method::Split, [separator]) => self.pieces(text.split(separator), &range)?,
            (Method::Replace, [old, new]) => self.replaced(text, old, new, &range)?,
            (method, _) => self.reshaped(method, text, &range)?,
        };
        Ok(Cow::Owned(made))
    }

    /// The methods without arguments that give a string.
    fn reshaped(
        &mut self,
        method: Method,
        text: &str,
        range: &Range<usize>,
    ) -> Result<Value, EvalError> {
        self.make(text.len(), range)?;
        Ok(Value::String(match method {
            Method::Strip => text.trim().to_owned(),
            Method::LeftStrip => text.trim_start().to_owned(),
            Method::RightStrip => text.trim_end().to_owned(),
            Method::Lower => text.to_lowercase(),
            Method::Upper => text.to_uppercase(),
            Method::Title => title(text),
            _ => unreachable!("the parser counted the arguments of every other method"),
        }))
    }

    fn replaced(
        &mut self,
        text: &str,
        old: &str,
        new: &str,
        range: &Range<usize>,
    ) -> Result<Value, EvalError> {
        let count = text.matches(old).count();
        let kept = text.len() - count * old.len();
        self.make(count.saturating_mul(new.len()).saturating_add(kept), range)?;
        Ok(Value::String(text.replace(old, new)))
    }

    fn pieces<'t>(
        &mut self,
        pieces: impl Iterator<Item = &'t str>,
        range: &Range<usize>,
    ) -> Result<Value, EvalError> {
        let mut list = Vec::new();
        for piece in pieces {
            self.make(size_of::<Value>() + piece.len(), range)?;
            list.push(Value::from(piece));
        }
        Ok(Value::Array(list))
    }

    fn join(&mut self, text: &str, value: &Value, range: &Range<usize>) -> Evaluated<'a> {
        let Value::Array(list) = value else {
            let written = self.excerpt(range);
            let message = format!("`join` needs a list, but `{written}` is {}", kind_of(value));
            return Err(EvalError { range: range.clone(), message });
        };
        let mut joined = String::new();
        for (at, element) in list.iter().enumerate() {
            let separator = if at == 0 { "" } else { text };
            let element = text_of(element);
            self.make(separator.len() + element.len(), range)?;
            joined.push_str(separator);
            joined.push_str(&element);
        }
        Ok(Cow::Owned(Value::String(joined)))
    }
}

fn int(value: &Value, range: &Range<usize>) -> Result<i64, EvalError> {
    let read = match value {
        Value::String(text) => numbers::integer_in(text.trim()),
        Value::Number(number) => numbers::truncated(number),
        Value::Bool(value) => Ok(i64::from(*value)),
        _ => Ok(0),
    };
    read.map_err(|problem| {
        let shown = excerpt(&text_of(value));
        let message = match problem {
            NoInteger::NotWhole => format!("`int` cannot read `{shown}` as an integer"),
            NoInteger::TooLarge => format!("`int` has 64 bits: `{shown}` does not fit"),
        };
        EvalError { range: range.clone(), message }
    })
}

fn float(value: &Value, range: &Range<usize>) -> Result<Value, EvalError> {
    let read = match value {
        Value::String(text) => numbers::float(text.trim()),
        Value::Number(number) => numbers::float(number.as_str()),
        Value::Bool(value) => Some(f64::from(*value)),
        _ => Some(0.0),
    };
    read.and_then(numbers::from_float).map(Value::Number).ok_or_else(|| {
        let shown = excerpt(&text_of(value));
        let message = format!("`float` cannot read `{shown}` as a number");
        EvalError { range: range.clone(), message }
    })
}

/// The value that comes before (or after) all others; of equals and of values without an order the
/// earlier one stays.
fn extreme<'a>(values: Vec<Cow<'a, Value>>, wanted: Ordering) -> Cow<'a, Value> {
    let mut values = values.into_iter();
    let first = values.next().expect("the parser counted two arguments");
    values.fold(first, |best, next| if order(&next, &best) == Some(wanted) { next } else { best })
}

/// Bytes of a string, elements of a list, keys of a map.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    }
}

/// Every word with its first letter large and the others small; blanks stay as they are.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        match (c.is_whitespace(), inside) {
            (true, _) => out.push(c),
            (false, false) => out.extend(c.to_uppercase()),
            (false, true) => out.extend(c.to_lowercase()),
        }
        inside = !c.is_whitespace();
    }
    out
}

//! The second evaluator: it walks the generated tree, copies every value and knows nothing of the
//! parser. Its errors are the name of the call that failed.

use super::random_trees::Tree;
use super::*;

pub struct Plain<'a> {
    pub scope: &'a Map,
    /// How often each call and operator gave a value.
    pub used: &'a RefCell<BTreeMap<String, usize>>,
}

type Answer = Result<Value, &'static str>;

pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(s) => !s.is_empty(),
        Value::Array(a) => !a.is_empty(),
        Value::Object(o) => !o.is_empty(),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

fn number(written: &str) -> Value {
    serde_json::from_str(written).unwrap()
}

fn float(written: &str) -> Option<f64> {
    let plain = written.chars().all(|c| "0123456789+-.eE".contains(c));
    if plain { written.parse().ok() } else { None }
}

fn order_numbers(a: &str, b: &str) -> Option<Ordering> {
    match (a.parse::<i128>(), b.parse::<i128>()) {
        (Ok(a), Ok(b)) => Some(a.cmp(&b)),
        _ => float(a)?.partial_cmp(&float(b)?),
    }
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Value::Number(_), Value::Number(_) | Value::String(_))
        | (Value::String(_), Value::Number(_)) => order_numbers(&text(a), &text(b)),
        _ => None,
    }
}

fn is_json_number(text: &str) -> bool {
    text.trim() == text && serde_json::from_str::<serde_json::Number>(text).is_ok()
}

fn equal(a: &Value, b: &Value) -> bool {
    if a.is_null() || b.is_null() {
        return a.is_null() && b.is_null();
    }
    if a.is_string() == b.is_string() {
        return deep(a, b);
    }
    let (string, other) = if a.is_string() { (a, b) } else { (b, a) };
    match other.is_number() {
        true => is_json_number(&text(string)) && order(string, other) == Some(Ordering::Equal),
        false => text(string) == text(other),
    }
}

fn deep(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => order(a, b) == Some(Ordering::Equal),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).all(|i| deep(&a[i], &b[i]))
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            a.keys().all(|key| b.contains_key(key) && deep(&a[key], &b[key]))
        }
        (a, b) => a == b,
    }
}

fn within(part: &Value, whole: &Value) -> bool {
    match whole {
        Value::String(whole) => match part {
            Value::Null | Value::Array(_) | Value::Object(_) => false,
            part => whole.contains(&text(part)),
        },
        Value::Array(list) => list.iter().any(|element| equal(part, element)),
        _ => false,
    }
}

fn compare(a: &Value, operator: &str, b: &Value) -> bool {
    let order = order(a, b);
    match operator {
        "==" => equal(a, b),
        "!=" => !equal(a, b),
        "<" => order == Some(Ordering::Less),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        ">" => order == Some(Ordering::Greater),
        ">=" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        "in" => within(a, b),
        "not in" => !within(a, b),
        other => panic!("{other}"),
    }
}

fn member(value: &Value, key: &str) -> Value {
    match value {
        Value::Object(map) => map.get(key).cloned().unwrap_or(Value::Null),
        Value::Array(list) => {
            key.parse::<usize>().ok().and_then(|at| list.get(at).cloned()).unwrap_or(Value::Null)
        }
        _ => Value::Null,
    }
}

fn element(value: &Value, index: &Value) -> Value {
    match (value, index) {
        (_, Value::String(key)) => member(value, key),
        (Value::Array(list), Value::Number(n)) => {
            let found = (0..list.len()).find(|at| n.as_f64() == Some(*at as f64));
            found.map_or(Value::Null, |at| list[at].clone())
        }
        _ => Value::Null,
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(s) => {
            // Digits too many for i128 would not fit either.
            s.trim().parse::<i128>().ok().and_then(|n| n.try_into().ok())
        }
        Value::Number(n) => match n.to_string().parse::<i128>() {
            Ok(n) => n.try_into().ok(),
            Err(_) => (float(&n.to_string())? as i128).try_into().ok(),
        },
        Value::Bool(b) => Some(if *b { 1 } else { 0 }),
        _ => Some(0),
    }
}

fn title(text: &str) -> String {
    text.split_inclusive(char::is_whitespace)
        .map(|word| {
            let mut chars = word.chars();
            let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            first + &chars.as_str().to_lowercase()
        })
        .collect()
}

impl Plain<'_> {
    fn note(&self, what: impl Into<String>) {
        *self.used.borrow_mut().entry(what.into()).or_default() += 1;
    }

    pub fn value(&self, tree: &Tree) -> Answer {
        Ok(match tree {
            Tree::Text(text) => Value::String(text.clone()),
            Tree::Number(written) => number(&format!("{:?}", written.parse::<f64>().unwrap())),
            Tree::Bool(b) => Value::Bool(*b),
            Tree::Name(path) => self.variable(path),
            Tree::List(items) => Value::Array(self.all(items)?),
            Tree::Function(name, arguments) => {
                let value = self.function(name, &self.all(arguments)?)?;
                self.note(*name);
                value
            }
            Tree::Method(receiver, name, arguments) => {
                let Value::String(receiver) = self.value(receiver)? else { return Err(name) };
                let value = self.method(&receiver, name, &self.all(arguments)?)?;
                self.note(*name);
                value
            }
            Tree::Index(base, index) => element(&self.value(base)?, &self.value(index)?),
            Tree::Field(base, key) => member(&self.value(base)?, key),
            Tree::Compare(a, operator, b) => {
                let result = compare(&self.value(a)?, operator, &self.value(b)?);
                self.note(format!("{operator} {result}"));
                Value::Bool(result)
            }
            Tree::Not(inner) => {
                let result = !is_true(&self.value(inner)?);
                self.note(format!("not {result}"));
                Value::Bool(result)
            }
            Tree::And(terms) => self.decided(terms, "and", false)?,
            Tree::Or(terms) => self.decided(terms, "or", true)?,
        })
    }

    fn all(&self, trees: &[Tree]) -> Result<Vec<Value>, &'static str> {
        trees.iter().map(|tree| self.value(tree)).collect()
    }

    fn variable(&self, path: &str) -> Value {
        if let Some(value) = self.scope.get(path) {
            return value.clone();
        }
        let whole = Value::Object(self.scope.clone());
        path.split('.').fold(whole, |value, key| member(&value, key))
    }

    fn decided(&self, terms: &[Tree], name: &str, decides: bool) -> Answer {
        let (last, others) = terms.split_last().unwrap();
        for term in others {
            let value = self.value(term)?;
            if is_true(&value) == decides {
                self.note(format!("{name} early"));
                return Ok(value);
            }
        }
        let value = self.value(last)?;
        self.note(format!("{name} late"));
        Ok(value)
    }

    fn function(&self, name: &'static str, arguments: &[Value]) -> Answer {
        let first = &arguments[0];
        Ok(match name {
            "int" => json!(integer(first).ok_or(name)?),
            "float" => {
                let value = match first {
                    Value::String(s) => float(s.trim()).ok_or(name)?,
                    Value::Number(n) => float(&n.to_string()).ok_or(name)?,
                    other => integer(other).ok_or(name)? as f64,
                };
                number(&format!("{value:?}"))
            }
            "str" => Value::String(text(first)),
            "bool" => Value::Bool(is_true(first)),
            "len" => json!(match first {
                Value::String(s) => s.len(),
                Value::Array(a) => a.len(),
                Value::Object(o) => o.len(),
                _ => 0,
            }),
            "min" | "max" => {
                let sign = if name == "min" { "<" } else { ">" };
                let mut best = first;
                for next in &arguments[1..] {
                    if compare(next, sign, best) {
                        best = next;
                    }
                }
                best.clone()
            }
            other => panic!("{other}"),
        })
    }

    fn method(&self, text: &str, name: &'static str, arguments: &[Value]) -> Answer {
        if let ("join", [Value::Array(list)]) = (name, arguments) {
            let texts: Vec<String> = list.iter().map(self::text).collect();
            return Ok(Value::String(texts.join(text)));
        }
        let strings: Option<Vec<&str>> = arguments.iter().map(Value::as_str).collect();
        let strings = strings.ok_or(name)?;
        Ok(match (name, strings.as_slice()) {
            ("strip", []) => json!(text.trim()),
            ("lstrip", []) => json!(text.trim_start()),
            ("rstrip", []) => json!(text.trim_end()),
            ("lower", []) => json!(text.to_lowercase()),
            ("upper", []) => json!(text.to_uppercase()),
            ("title", []) => json!(title(text)),
            ("startswith", [part]) => json!(text.as_bytes().starts_with(part.as_bytes())),
            ("endswith", [part]) => json!(text.as_bytes().ends_with(part.as_bytes())),
            ("replace", [old, new]) => json!(text.split(old).collect::<Vec<_>>().join(new)),
            ("split", []) => json!(text.split_whitespace().collect::<Vec<_>>()),
            ("split", [by]) if !by.is_empty() => json!(text.split(by).collect::<Vec<_>>()),
            ("count", [part]) => json!(text.split(part).count() - 1),
            ("find", [part]) => {
                let at =
                    (0..=text.len()).find(|at| text.as_bytes()[*at..].starts_with(part.as_bytes()));
                at.map_or(json!(-1), |at| json!(at))
            }
            _ => return Err(name),
        })
    }
}

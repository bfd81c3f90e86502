//! Evaluates a tree. Only what decides is looked at: `and` and `or` stop early, and an
//! error on the side that is not reached is none. Values are borrowed where they lie; what a
//! condition reads and makes is counted and bounded, so that a short text can neither fill the memory
//! nor take minutes. Commands that only show a recipe have a small budget.

use super::EvalError;
use super::excerpt::{excerpt, kind_of};
use super::tree::{Kind, Link, LinkKind, Node};
use super::truthy::{compare, truthy};
use std::borrow::Cow;
use std::ops::Range;
use towpath_core::{Map, Value, lookup};

/// Bytes that one evaluation may make and read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    made: usize,
    read: usize,
}

/// A few passes over the largest value there is make so much; many read it.
const RUNNING: Budget = Budget { made: 128 << 20, read: 1 << 30 };
/// For commands that only show a recipe: some milliseconds.
pub(super) const LOOKING: Budget = Budget { made: 1 << 20, read: 4 << 20 };

pub(super) type Evaluated<'a> = Result<Cow<'a, Value>, EvalError>;

pub(super) fn evaluate<'a>(text: &'a str, root: &'a Node, scope: &'a Map) -> Evaluated<'a> {
    Evaluation::new(text, scope, RUNNING).value(root)
}

pub(super) struct Evaluation<'a> {
    text: &'a str,
    scope: &'a Map,
    budget: Budget,
    spent: Budget,
}

const NULL: Cow<'static, Value> = Cow::Owned(Value::Null);

impl<'a> Evaluation<'a> {
    pub fn new(text: &'a str, scope: &'a Map, budget: Budget) -> Evaluation<'a> {
        Evaluation { text, scope, budget, spent: Budget { made: 0, read: 0 } }
    }

    /// Whether an error came from the budget.
    pub fn exceeded(&self) -> bool {
        self.spent.made > self.budget.made || self.spent.read > self.budget.read
    }

    pub fn value(&mut self, node: &'a Node) -> Evaluated<'a> {
        let is_true = match &node.kind {
            Kind::Literal(value) => return Ok(Cow::Borrowed(value)),
            Kind::Variable(path) => {
                return Ok(lookup(self.scope, path).map_or(NULL, Cow::Borrowed));
            }
            Kind::List(items) => return self.list(items),
            Kind::Call(function, arguments) => return self.call(*function, arguments),
            Kind::Chain(base, links) => return self.chain(base, links, node.range.start),
            Kind::And(terms) => return self.first(terms, false),
            Kind::Or(terms) => return self.first(terms, true),
            Kind::Not { odd, inner } => truthy(&*self.value(inner)?) != *odd,
            Kind::Compare(comparison, sides) => {
                let sides = [self.value(&sides.0)?, self.value(&sides.1)?];
                self.read_values(&sides, &node.range)?;
                compare(*comparison, &sides[0], &sides[1])
            }
        };
        Ok(Cow::Owned(Value::Bool(is_true)))
    }

    pub fn values(&mut self, nodes: &'a [Node]) -> Result<Vec<Cow<'a, Value>>, EvalError> {
        nodes.iter().map(|node| self.value(node)).collect()
    }

    /// The first term that decides, else the last one.
    fn first(&mut self, terms: &'a [Node], decides: bool) -> Evaluated<'a> {
        let mut value = NULL;
        for term in terms {
            value = self.value(term)?;
            if truthy(&value) == decides {
                break;
            }
        }
        Ok(value)
    }

    fn list(&mut self, items: &'a [Node]) -> Evaluated<'a> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            let value = self.value(item)?;
            if let Cow::Borrowed(value) = &value {
                self.make(weight(value), &item.range)?;
            }
            list.push(value.into_owned());
        }
        Ok(Cow::Owned(Value::Array(list)))
    }

    fn chain(&mut self, base: &'a Node, links: &'a [Link], start: usize) -> Evaluated<'a> {
        let mut value = self.value(base)?;
        for link in links {
            value = match &link.kind {
                LinkKind::Field(key) => pick(value, |value| member(value, key)),
                LinkKind::Index(index) => {
                    let index = self.value(index)?;
                    pick(value, |value| element(value, &index))
                }
                LinkKind::Method(method, arguments) => {
                    let Value::String(text) = &*value else {
                        let receiver = start..link.range.start;
                        return Err(self.not_a_string(method.name(), &value, receiver));
                    };
                    self.method(*method, text, arguments, start..link.range.end)?
                }
            };
        }
        Ok(value)
    }

    /// Counts what is about to be made.
    pub fn make(&mut self, bytes: usize, range: &Range<usize>) -> Result<(), EvalError> {
        self.spent.made = self.spent.made.saturating_add(bytes);
        if self.spent.made > self.budget.made {
            let message = format!("this makes more than {} MiB of text", self.budget.made >> 20);
            return Err(EvalError { range: range.clone(), message });
        }
        Ok(())
    }

    /// Counts what is about to be read as a whole.
    pub fn read(&mut self, bytes: usize, range: &Range<usize>) -> Result<(), EvalError> {
        self.spent.read = self.spent.read.saturating_add(bytes);
        if self.spent.read > self.budget.read {
            let message = format!("this reads more than {} MiB of text", self.budget.read >> 20);
            return Err(EvalError { range: range.clone(), message });
        }
        Ok(())
    }

    pub fn read_values(
        &mut self,
        values: &[Cow<'a, Value>],
        range: &Range<usize>,
    ) -> Result<(), EvalError> {
        self.read(values.iter().map(|value| weight(value)).sum(), range)
    }

    pub fn excerpt(&self, range: &Range<usize>) -> String {
        excerpt(&self.text[range.clone()])
    }

    /// A method got another receiver or argument than a string.
    pub fn not_a_string(&self, method: &str, value: &Value, range: Range<usize>) -> EvalError {
        let written = self.excerpt(&range);
        let kind = kind_of(value);
        let hint = match value {
            Value::Number(_) | Value::Bool(_) => format!(": write `str({written})`"),
            Value::Null => format!(": test it first, as in `{written} and …`"),
            _ => String::new(),
        };
        let message = format!("`{method}` needs a string, but `{written}` is {kind}{hint}");
        EvalError { range, message }
    }
}

/// Takes a part of a value, borrowed if the value is.
fn pick<'a>(
    value: Cow<'a, Value>,
    part: impl for<'v> Fn(&'v Value) -> Option<&'v Value>,
) -> Cow<'a, Value> {
    match value {
        Cow::Borrowed(value) => part(value).map_or(NULL, Cow::Borrowed),
        Cow::Owned(value) => part(&value).map_or(NULL, |part| Cow::Owned(part.clone())),
    }
}

/// One step of a dotted path: the same walk as a variable's own path takes.
fn member<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(key),
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

fn element<'v>(value: &'v Value, index: &Value) -> Option<&'v Value> {
    match (value, index) {
        (_, Value::String(key)) => member(value, key),
        (Value::Array(list), Value::Number(n)) => {
            let index = n.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0)?;
            list.get(index as usize)
        }
        _ => None,
    }
}

/// About how many bytes a copy of a value takes.
pub(super) fn weight(value: &Value) -> usize {
    let own = size_of::<Value>();
    own + match value {
        Value::Null | Value::Bool(_) => 0,
        Value::Number(n) => n.as_str().len(),
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + own + weight(value)).sum(),
    }
}

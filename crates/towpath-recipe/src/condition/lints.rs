//! What is sound in a condition and yet cannot mean what its author meant: parts of what has no
//! parts, comparisons that are never true, tests that never change. It works on what is known of the
//! variables before any of them has a value, and reports nothing where that is not enough.

use super::Condition;
use super::excerpt::excerpt;
use super::functions::{Function, Method};
use super::tree::{Comparison, Kind, Link, LinkKind, Node};
use super::truthy::{compare, decided, truthy};
use std::ops::Range;
use towpath_core::{Severity, Value, nearest, number};

/// A value, as far as it is known before there is one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Anything,
    Text,
    Number,
    List,
    Map,
    /// A string, a number or a boolean.
    Scalar,
    /// How a step ended.
    Status,
    OneOf(Vec<Value>),
}

/// The words for how a step ended.
pub(crate) const STATUSES: [&str; 5] = ["completed", "degraded", "recovered", "failed", "skipped"];

/// Why a variable, or a part of it, never has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoValue {
    pub code: &'static str,
    /// The middle of a sentence: "…, but `o` is a string".
    pub why: String,
    pub label: String,
}

/// The variables where a condition is asked, as far as they are known.
pub(crate) trait Variables {
    fn shape(&self, path: &[&str]) -> Result<Shape, NoValue>;
    /// A step that prints this variable, with a word for "no" that it prints and that counts as true.
    fn prints_no(&self, path: &[&str]) -> Option<(&str, &str)>;
}

#[derive(Debug)]
pub(crate) struct Lint {
    /// Bytes in the condition's text.
    pub range: Range<usize>,
    pub what: What,
}

#[derive(Debug)]
pub(crate) enum What {
    NoValue(NoValue),
    Report {
        severity: Severity,
        code: &'static str,
        message: String,
        label: String,
        help: Option<String>,
    },
}

impl Lint {
    /// A constant condition is reported when it is read, and not again for its parts.
    pub fn is_new(&self, constant: bool) -> bool {
        !constant || !matches!(self.what, What::Report { code: "never-changes", .. })
    }
}

impl Condition {
    pub(crate) fn lints(&self, variables: &dyn Variables) -> Vec<Lint> {
        let mut visitor = Visitor { text: self.text(), variables, lints: Vec::new() };
        visitor.test(&self.root);
        visitor.lints
    }
}

struct Visitor<'a> {
    text: &'a str,
    variables: &'a dyn Variables,
    lints: Vec<Lint>,
}

impl Visitor<'_> {
    /// Looks at what is only tested for being true.
    fn test(&mut self, node: &Node) {
        match &node.kind {
            Kind::And(terms) | Kind::Or(terms) => terms.iter().for_each(|term| self.test(term)),
            Kind::Not { inner, .. } => self.test(inner),
            _ => {
                let shape = self.value(node);
                self.unchanging(node, &shape);
            }
        }
    }

    fn value(&mut self, node: &Node) -> Shape {
        match &node.kind {
            Kind::Literal(value) => Shape::OneOf(vec![value.clone()]),
            Kind::Variable(path) => {
                let path: Vec<&str> = path.segments().collect();
                self.variable(&path, &node.range)
            }
            Kind::List(items) => {
                for item in items {
                    drop(self.value(item));
                }
                Shape::List
            }
            Kind::Call(function, arguments) => self.call(*function, arguments),
            Kind::Chain(base, links) => self.chain(base, links),
            Kind::And(terms) | Kind::Or(terms) => {
                for term in terms {
                    drop(self.value(term));
                }
                Shape::Anything
            }
            Kind::Not { inner, .. } => {
                self.test(inner);
                booleans()
            }
            Kind::Compare(comparison, sides) => {
                self.comparison(*comparison, &sides.0, &sides.1, &node.range);
                booleans()
            }
        }
    }

    fn variable(&mut self, path: &[&str], range: &Range<usize>) -> Shape {
        self.variables.shape(path).unwrap_or_else(|no_value| {
            self.lints.push(Lint { range: range.clone(), what: What::NoValue(no_value) });
            Shape::Anything
        })
    }

    fn call(&mut self, function: Function, arguments: &[Node]) -> Shape {
        if function == Function::Bool {
            for argument in arguments {
                self.test(argument);
            }
            return booleans();
        }
        for argument in arguments {
            drop(self.value(argument));
        }
        match function {
            Function::Int | Function::Float | Function::Len => Shape::Number,
            Function::Str => Shape::Text,
            Function::Bool | Function::Min | Function::Max => Shape::Anything,
        }
    }

    fn chain(&mut self, base: &Node, links: &[Link]) -> Shape {
        let (mut shape, rest) = match &base.kind {
            // `a['b'].c` reads the same variable as `a.b.c`.
            Kind::Variable(path) => {
                let mut path: Vec<&str> = path.segments().collect();
                let fixed = links.iter().map_while(fixed_key).collect::<Vec<&str>>();
                path.extend(&fixed);
                let end = links[..fixed.len()].last().map_or(base.range.end, |l| l.range.end);
                (self.variable(&path, &(base.range.start..end)), &links[fixed.len()..])
            }
            _ => (self.value(base), links),
        };
        let mut end = rest.first().map_or(base.range.end, |link| link.range.start);
        for link in rest {
            shape = match &link.kind {
                LinkKind::Field(_) => self.part(&shape, base.range.start..end, link),
                LinkKind::Index(index) => {
                    self.value(index);
                    self.part(&shape, base.range.start..end, link)
                }
                LinkKind::Method(method, arguments) => {
                    for argument in arguments {
                        drop(self.value(argument));
                    }
                    given_by(*method)
                }
            };
            end = link.range.end;
        }
        shape
    }

    fn part(&mut self, whole: &Shape, written: Range<usize>, link: &Link) -> Shape {
        if let Some(kind) = whole.without_parts() {
            let written = excerpt(&self.text[written]);
            let what = What::NoValue(NoValue {
                code: "no-parts",
                why: format!("but `{written}` is {kind}"),
                label: format!("{kind} has no parts"),
            });
            self.lints.push(Lint { range: link.range.clone(), what });
        }
        Shape::Anything
    }

    fn comparison(
        &mut self,
        comparison: Comparison,
        left: &Node,
        right: &Node,
        range: &Range<usize>,
    ) {
        let shapes = (self.value(left), self.value(right));
        let literals = (literal(left), literal(right));
        // What literals alone decide is found when the condition is read.
        if (literals.0.is_some() && literals.1.is_some())
            || decided(comparison, literals.0, literals.1).is_some()
        {
            return;
        }
        match (comparison, &right.kind) {
            (Comparison::In | Comparison::NotIn, Kind::List(items)) => {
                for item in items {
                    if let Some(value) = literal(item) {
                        let item_shape = Shape::OneOf(vec![value.clone()]);
                        let both = (&shapes.0, &item_shape);
                        self.possible(Comparison::Equal, both, (left, item), &item.range);
                    }
                }
            }
            _ => self.possible(comparison, (&shapes.0, &shapes.1), (left, right), range),
        }
    }

    /// Reports a comparison that no value of the variables makes true, or that all do.
    fn possible(
        &mut self,
        comparison: Comparison,
        (left, right): (&Shape, &Shape),
        nodes: (&Node, &Node),
        range: &Range<usize>,
    ) {
        let (asked, never) = match comparison {
            Comparison::NotEqual => (Comparison::Equal, "always true"),
            Comparison::NotIn => (Comparison::In, "always true"),
            other => (other, "never true"),
        };
        if can_be_true(asked, left, right) {
            return;
        }
        let status = [(left, nodes.1), (right, nodes.0)]
            .into_iter()
            .filter(|(shape, _)| **shape == Shape::Status)
            .find_map(|(_, other)| Some((literal(other)?, other.range.clone())));
        if let Some((value, at)) = status {
            return self.no_status(value, at, never);
        }
        let (a, b) = (excerpt(&self.text[nodes.0.range.clone()]), &nodes.1.range);
        let b = excerpt(&self.text[b.clone()]);
        self.warn(
            range.clone(),
            "never-changes",
            format!("this comparison is {never}"),
            format!("`{a}` is {}, `{b}` is {}", left.kind(), right.kind()),
            None,
        );
    }

    fn no_status(&mut self, value: &Value, at: Range<usize>, never: &str) {
        let written = value.as_str().unwrap_or(&self.text[at.clone()]).to_owned();
        let label =
            meant_status(&written).map_or_else(String::new, |s| format!("did you mean '{s}'?"));
        let message = format!(
            "no step ever has the status `{}`: this comparison is {never}",
            excerpt(&written)
        );
        let [others @ .., last] = STATUSES;
        let help = format!("a step's status is {} or {last}", others.join(", "));
        self.warn(at, "unknown-status", message, label, Some(help));
    }

    /// Reports a test that always has the same result, and a string that looks like a boolean.
    fn unchanging(&mut self, node: &Node, shape: &Shape) {
        let written = excerpt(&self.text[node.range.clone()]);
        let is_literal = literal(node).is_some();
        if let Some((step, word)) = self.printed_no(node) {
            let message = format!(
                "the string `{word}` is true: in a condition every string but the empty one is"
            );
            let help = format!(
                "compare it, as in `{written} == 'true'`, or set `parse_json: true` on step `{step}`"
            );
            let what = What::Report {
                severity: Severity::Note,
                code: "text-is-true",
                message,
                label: format!("step `{step}` prints it"),
                help: Some(help),
            };
            self.lints.push(Lint { range: node.range.clone(), what });
        }
        let always = match shape {
            // `true` and `false` are written on purpose.
            Shape::OneOf(values) => {
                is_literal && values.iter().all(|v| truthy(v) && !v.is_boolean())
            }
            Shape::Status | Shape::Map => true,
            _ => false,
        };
        let is_whole = node.range.len() == self.text.trim().len();
        if always && !(is_literal && is_whole) {
            let label = match shape {
                Shape::Status => format!("compare it, as in `{written} == 'completed'`"),
                Shape::Map => {
                    format!("compare a part of it, as in `{written}.status == 'completed'`")
                }
                _ => "compare it with something".to_owned(),
            };
            let message = format!("`{written}` is always true");
            self.warn(node.range.clone(), "never-changes", message, label, None);
        }
    }

    fn printed_no(&self, node: &Node) -> Option<(String, String)> {
        let Kind::Variable(path) = &node.kind else { return None };
        let path: Vec<&str> = path.segments().collect();
        let (step, word) = self.variables.prints_no(&path)?;
        Some((step.to_owned(), word.to_owned()))
    }

    fn warn(
        &mut self,
        range: Range<usize>,
        code: &'static str,
        message: String,
        label: String,
        help: Option<String>,
    ) {
        let what = What::Report { severity: Severity::Warning, code, message, label, help };
        self.lints.push(Lint { range, what });
    }
}

impl Shape {
    /// The kind of a value that has no parts, as the end of a sentence.
    pub fn without_parts(&self) -> Option<&'static str> {
        match self {
            Shape::Anything | Shape::List | Shape::Map => None,
            Shape::OneOf(values) => {
                let has_parts = |v: &Value| v.is_array() || v.is_object() || v.is_null();
                (!values.iter().any(has_parts)).then(|| self.kind())
            }
            Shape::Text | Shape::Number | Shape::Scalar | Shape::Status => Some(self.kind()),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Shape::Anything => "any value",
            Shape::Text | Shape::Status => "a string",
            Shape::Number => "a number",
            Shape::List => "a list",
            Shape::Map => "a map",
            Shape::Scalar => "a single value",
            Shape::OneOf(values) => match values.first() {
                Some(Value::Bool(_)) => "true or false",
                Some(Value::Number(_)) => "a number",
                Some(Value::String(_)) => "a string",
                Some(Value::Array(_)) => "a list",
                _ => "a value",
            },
        }
    }

    fn values(&self) -> Option<Vec<Value>> {
        match self {
            Shape::OneOf(values) => Some(values.clone()),
            Shape::Status => Some(STATUSES.map(Value::from).to_vec()),
            _ => None,
        }
    }

    /// Either of two.
    pub fn or(self, other: Shape) -> Shape {
        match (self, other) {
            (a, b) if a == b => a,
            (Shape::Text | Shape::Scalar, Shape::Text | Shape::Scalar) => Shape::Scalar,
            _ => Shape::Anything,
        }
    }
}

fn booleans() -> Shape {
    Shape::OneOf(vec![Value::Bool(true), Value::Bool(false)])
}

fn literal(node: &Node) -> Option<&Value> {
    match &node.kind {
        Kind::Literal(value) => Some(value),
        _ => None,
    }
}

/// A part that is named by its key alone, whatever the values are.
fn fixed_key(link: &Link) -> Option<&str> {
    match &link.kind {
        LinkKind::Field(key) => Some(key),
        LinkKind::Index(index) => literal(index)?.as_str(),
        LinkKind::Method(..) => None,
    }
}

fn given_by(method: Method) -> Shape {
    match method {
        Method::StartsWith | Method::EndsWith => booleans(),
        Method::Split => Shape::List,
        Method::Count | Method::Find => Shape::Number,
        _ => Shape::Text,
    }
}

/// Whether some values of these shapes make a comparison true.
fn can_be_true(comparison: Comparison, left: &Shape, right: &Shape) -> bool {
    let open = |shape: &Shape| matches!(shape, Shape::Anything | Shape::Scalar);
    match (left.values(), right.values()) {
        _ if open(left) || open(right) => true,
        (Some(left), Some(right)) => {
            left.iter().any(|l| right.iter().any(|r| compare(comparison, l, r)))
        }
        (None, Some(values)) => values.iter().any(|value| fits(comparison, left, value, true)),
        (Some(values), None) => values.iter().any(|value| fits(comparison, right, value, false)),
        (None, None) => true,
    }
}

/// Whether some value of a shape compares with this one; `first`: the shape is on the left.
fn fits(comparison: Comparison, shape: &Shape, value: &Value, first: bool) -> bool {
    let is_number = match value {
        Value::Number(_) => true,
        Value::String(text) => number(text).is_some(),
        _ => false,
    };
    let begins = |c: char| value.as_str().is_some_and(|text| text.trim_start().starts_with(c));
    match (comparison, shape) {
        (Comparison::In, Shape::Number | Shape::Map) if !first => false,
        (Comparison::In, Shape::List | Shape::Map) if first => value.is_array(),
        (Comparison::In, _) => true,
        (Comparison::Equal, Shape::Number) => is_number || value.is_null(),
        (Comparison::Equal, Shape::List) => value.is_array() || begins('['),
        (Comparison::Equal, Shape::Map) => value.is_object() || begins('{'),
        (Comparison::Equal, _) => true,
        (_, Shape::Number) => is_number,
        (_, Shape::List | Shape::Map) => false,
        _ => value.is_number() || value.is_string(),
    }
}

/// The status that was meant by another word.
fn meant_status(written: &str) -> Option<&'static str> {
    Some(match written.to_lowercase().as_str() {
        "success" | "succeeded" | "successful" | "ok" | "okay" | "done" | "pass" | "passed"
        | "complete" | "finished" | "green" | "0" => "completed",
        "failure" | "fail" | "error" | "errored" | "red" | "timeout" | "timed_out" => "failed",
        "skip" | "omitted" => "skipped",
        other => {
            let same = STATUSES.into_iter().find(|status| *status == other);
            return same.or_else(|| nearest(other, STATUSES));
        }
    })
}

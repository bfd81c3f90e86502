//! Reading one value as the type that its field has. Every refusal describes what was expected,
//! what came instead and where. A method for a value takes an entry or none, so that a field that
//! is not there is simply not read.

use super::{FieldRow, FieldType, Fields, FileKind, LONGEST_TIME, Subject};
use crate::spanned_tree::{Entry, Kind, Node};
use crate::{Diagnostic, Source, Span, nearest, quoted_list};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
pub struct FieldReader<'a> {
    pub source: &'a Arc<Source>,
    pub kind: FileKind,
    pub problems: Vec<Diagnostic>,
}

impl<'a> FieldReader<'a> {
    pub fn new(
        source: &'a Arc<Source>,
        kind: FileKind,
        problems: Vec<Diagnostic>,
    ) -> FieldReader<'a> {
        FieldReader { source, kind, problems }
    }

    pub fn problem(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    pub fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        label: impl Into<String>,
    ) {
        self.problem(Diagnostic::error(code, message).at(self.source, span, label));
    }

    /// The fields of a map; unknown ones are reported, and required ones that are missing.
    pub fn fields<'n, R: FieldRow>(
        &mut self,
        node: &'n Node,
        subject: Subject<'_>,
        table: &'static [R],
    ) -> Option<Fields<R, &'n Entry>> {
        let entries = self.entries(node, subject)?;
        let (fields, unknown) = Fields::sort(entries, |entry| entry, table.iter());
        let names: Vec<&str> = table.iter().map(FieldRow::name).collect();
        for entry in unknown {
            let problem = self.unknown_field(entry, subject, &names, None);
            let near = nearest(&entry.key, names.iter().copied());
            self.problem(match near {
                Some(_) => problem,
                None => problem.help(known_fields(subject, &names)),
            });
        }
        self.missing(&fields, subject, node);
        Some(fields)
    }

    /// Reports the required fields that a map does not have.
    pub fn missing<R: FieldRow, E: Copy>(
        &mut self,
        fields: &Fields<R, E>,
        subject: Subject<'_>,
        node: &Node,
    ) {
        let span = self.source.line_from(node.span.start);
        for (name, code) in fields.missing() {
            let message = format!("{} has no `{name}`", subject.definite());
            self.error(code, message, span, format!("add `{name}`"));
        }
    }

    /// The entries of a value that must be a map of fields.
    pub fn entries<'n>(&mut self, node: &'n Node, subject: Subject<'_>) -> Option<&'n [Entry]> {
        if let Kind::Map(entries) = &node.kind {
            return Some(entries);
        }
        let message = format!("{subject} must be {}, this is {}", self.kind.map, node.describe());
        self.error("wrong-type", message, self.source.line_from(node.span.start), "not a map");
        None
    }

    /// A field that is not in the table. `elsewhere` describes where it belongs, if that is known.
    pub fn unknown_field(
        &self,
        entry: &Entry,
        subject: Subject<'_>,
        names: &[&str],
        elsewhere: Option<String>,
    ) -> Diagnostic {
        let FileKind { field, unknown_code, .. } = self.kind;
        let near = nearest(&entry.key, names.iter().copied());
        let near = near.map(|near| format!("did you mean `{near}`?"));
        let label = elsewhere.or(near).unwrap_or_else(|| format!("{subject} has no such {field}"));
        Diagnostic::error(unknown_code, format!("unknown {field} `{}`", entry.key)).at(
            self.source,
            entry.key_defined,
            label,
        )
    }

    /// A value of another type than its field has.
    pub fn wrong_type(&mut self, entry: &Entry, expected: FieldType) {
        if entry.is_null() {
            let message = format!("`{}` has no value", entry.key);
            let expected = expected.describe(self.kind.or);
            let label = format!("give it {expected}, or take it out");
            self.error(self.kind.empty_code, message, entry.key_defined, label);
            return;
        }
        self.wrong_node(&entry.value, &format!("`{}`", entry.key), expected);
    }

    /// As `wrong_type`, for a value that is not a field's own.
    pub fn wrong_node(&mut self, node: &Node, what: &str, expected: FieldType) {
        let wanted = expected.describe(self.kind.or);
        let message = match self.written(node) {
            Some(written) => format!("{what} must be {wanted}, not `{written}`"),
            None => format!("{what} must be {wanted}, this is {}", node.describe()),
        };
        let span = self.source.first_line(node.defined);
        let problem = Diagnostic::error("wrong-type", message).at(self.source, span, "");
        self.problem(match expected.help_for(node) {
            Some(help) => problem.help(help),
            None => problem,
        });
    }

    /// A short scalar as its author wrote it.
    fn written(&self, node: &Node) -> Option<&str> {
        let written = self.source.text.get(node.defined.range())?;
        let short = written.len() <= 40 && !written.contains('\n');
        let scalar = !matches!(node.kind, Kind::List(_) | Kind::Map(_));
        (self.kind.shows_written && short && scalar).then_some(written)
    }

    /// A string; a number or a boolean is the string it is written with.
    pub fn text<'n>(&mut self, entry: impl Into<Option<&'n Entry>>) -> Option<String> {
        let entry = entry.into()?;
        let text = entry.value.scalar();
        if text.is_none() {
            self.wrong_type(entry, FieldType::Text);
        }
        text
    }

    /// A string that is written as one: a number is refused.
    pub fn string<'n>(&mut self, entry: impl Into<Option<&'n Entry>>) -> Option<&'n str> {
        let entry = entry.into()?;
        if let Kind::Text(text) = &entry.value.kind {
            return Some(text);
        }
        self.wrong_type(entry, FieldType::Text);
        None
    }

    pub fn bool<'n>(&mut self, entry: impl Into<Option<&'n Entry>>) -> Option<bool> {
        let entry = entry.into()?;
        if let Kind::Bool(value) = entry.value.kind {
            return Some(value);
        }
        self.wrong_type(entry, FieldType::Bool);
        None
    }

    /// A number that fits `T`.
    pub fn number<'n, T: FromStr>(
        &mut self,
        entry: impl Into<Option<&'n Entry>>,
        expected: FieldType,
    ) -> Option<T> {
        let entry = entry.into()?;
        let number = number_in(&entry.value);
        if number.is_none() {
            self.wrong_type(entry, expected);
        }
        number
    }

    /// A whole number above zero.
    pub fn count<'n>(&mut self, entry: impl Into<Option<&'n Entry>>) -> Option<u32> {
        self.whole_number(entry.into()?, 1, FieldType::Count)
    }

    /// A whole number, zero included.
    pub fn count_or_zero<'n>(&mut self, entry: impl Into<Option<&'n Entry>>) -> Option<u32> {
        self.whole_number(entry.into()?, 0, FieldType::CountOrZero)
    }

    fn whole_number(&mut self, entry: &Entry, least: u32, expected: FieldType) -> Option<u32> {
        let number = number_in(&entry.value).filter(|number| *number >= least);
        let what = format!("`{}`", entry.key);
        if number.is_none() && !self.too_great(&entry.value, &what, u32::MAX.into()) {
            self.wrong_type(entry, expected);
        }
        number
    }

    pub fn seconds<'n>(&mut self, entry: impl Into<Option<&'n Entry>>) -> Option<Duration> {
        let entry = entry.into()?;
        self.duration(entry, number_in(&entry.value), FieldType::Seconds)
    }

    /// Seconds, or a time with its unit.
    pub fn time<'n>(&mut self, entry: impl Into<Option<&'n Entry>>) -> Option<Duration> {
        let entry = entry.into()?;
        let seconds = number_in(&entry.value).or_else(|| seconds_in(&entry.value));
        self.duration(entry, seconds, FieldType::Time)
    }

    fn duration(
        &mut self,
        entry: &Entry,
        seconds: Option<f64>,
        expected: FieldType,
    ) -> Option<Duration> {
        let duration = seconds
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .filter(|duration| !duration.is_zero() && *duration <= LONGEST_TIME);
        let what = format!("`{}`", entry.key);
        if duration.is_none() && !self.too_great(&entry.value, &what, LONGEST_TIME.as_secs()) {
            self.wrong_type(entry, expected);
        }
        duration
    }

    /// Reports a number that is too great, and returns whether it is.
    pub fn too_great(&mut self, node: &Node, what: &str, greatest: u64) -> bool {
        let great = number_in::<f64>(node).is_some_and(|number| number > greatest as f64);
        if great {
            let message = format!("{what} can be {greatest} at most");
            self.error("too-great", message, node.defined, "");
        }
        great
    }

    /// One of the words; only a string can be one.
    pub fn choice<'n>(
        &mut self,
        entry: impl Into<Option<&'n Entry>>,
        words: &'static [&'static str],
    ) -> Option<&'static str> {
        let entry = entry.into()?;
        let Kind::Text(text) = &entry.value.kind else {
            self.wrong_type(entry, FieldType::Choice(words));
            return None;
        };
        let word = words.iter().find(|word| **word == text.as_str()).copied();
        if word.is_none() {
            let expected = FieldType::Choice(words).describe(self.kind.or);
            let message = format!("`{}` must be {expected}, not `{text}`", entry.key);
            let near = nearest(text, words.iter().copied());
            let label = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
            self.error("bad-choice", message, entry.value.defined, label);
        }
        word
    }

    pub fn list<'n>(
        &mut self,
        entry: impl Into<Option<&'n Entry>>,
        expected: FieldType,
    ) -> Option<&'n [Node]> {
        let entry = entry.into()?;
        if let Kind::List(items) = &entry.value.kind {
            return Some(items);
        }
        self.wrong_type(entry, expected);
        None
    }

    /// The strings of a list, each with its node; other items are reported and left out.
    pub fn texts<'n>(
        &mut self,
        entry: impl Into<Option<&'n Entry>>,
        expected: FieldType,
    ) -> Option<Vec<(String, &'n Node)>> {
        let entry = entry.into()?;
        let mut texts = Vec::new();
        for item in self.list(entry, expected)? {
            match item.scalar() {
                Some(text) => texts.push((text, item)),
                None => {
                    let expected = expected.describe(self.kind.or);
                    let is = item.describe();
                    let message = format!("`{}` must be {expected}, this is {is}", entry.key);
                    let span = self.source.first_line(item.defined);
                    self.error("wrong-type", message, span, "not a string");
                }
            }
        }
        Some(texts)
    }

    /// The entries of a map with names of its own; null is an empty map.
    pub fn map<'n>(
        &mut self,
        entry: impl Into<Option<&'n Entry>>,
        expected: FieldType,
    ) -> Option<&'n [Entry]> {
        let entry = entry.into()?;
        match &entry.value.kind {
            Kind::Map(entries) => Some(entries),
            Kind::Null => None,
            _ => {
                self.wrong_type(entry, expected);
                None
            }
        }
    }
}

/// The help that lists the fields that a map may have.
pub fn known_fields(subject: Subject<'_>, names: &[&str]) -> String {
    format!("{subject} has {}", quoted_list(names))
}

/// The seconds of a time with its unit: `90s`, `5m`, `1.5h`.
fn seconds_in(node: &Node) -> Option<f64> {
    let Kind::Text(text) = &node.kind else { return None };
    let unit = match text.chars().last()? {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: f64 = digits.parse().ok().filter(|_| plain && digits.len() <= MAX_DIGITS)?;
    Some(number * unit)
}

/// Of the number of a time with its unit.
const MAX_DIGITS: usize = 12;

fn number_in<T: FromStr>(node: &Node) -> Option<T> {
    match &node.kind {
        Kind::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

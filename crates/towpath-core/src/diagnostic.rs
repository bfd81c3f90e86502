//! A problem, described for the user at the terminal: what, where, what to do. The binary draws it.

use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// A text with the name that the user knows it by (a path, or `built-in demo`).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Source> {
        Arc::new(Source { name: name.into(), text: text.into() })
    }

    /// Line and column, both from 1, of a byte offset. The column counts characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// As much of a span as is on its first line.
    pub fn first_line(&self, span: Span) -> Span {
        let text = self.text.get(span.range()).unwrap_or("");
        let line = text.lines().next().unwrap_or("");
        Span { start: span.start, end: span.start + line.trim_end().len() }
    }

    /// From an offset to the end of its line, for problems of what begins there.
    pub fn line_from(&self, start: usize) -> Span {
        self.first_line(Span { start, end: self.text.len() })
    }
}

/// A byte range in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(range: Range<usize>) -> Span {
        Span { start: range.start, end: range.end }
    }

    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// A location with the text under its caret (may be empty).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub source: Arc<Source>,
    pub span: Span,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// A short stable word for other programs, such as `unknown-field`.
    pub code: &'static str,
    pub message: String,
    /// The first label is the location of the problem.
    pub labels: Vec<Label>,
    /// What to do next, when it does not fit under the caret.
    pub help: Option<String>,
    pub hint: Option<Hint>,
}

/// What the program that shows a problem can offer beside `help`: only it knows its own flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Give the run a value for each of these variables.
    GiveValues(Vec<String>),
    /// Bound how often the run may restart.
    BoundRestarts,
    /// The file that `help` names is a document, which is rendered and not run.
    RenderDocument,
    /// The problem is a tag that is to be included.
    IncludedTag,
    /// The problem is a tag that is to be excluded.
    ExcludedTag,
}

impl Hint {
    pub fn give_values(names: &[&str]) -> Hint {
        Hint::GiveValues(names.iter().map(|name| (*name).to_owned()).collect())
    }
}

impl Diagnostic {
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Diagnostic {
        let (message, labels) = (message.into(), Vec::new());
        Diagnostic { severity, code, message, labels, help: None, hint: None }
    }

    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message)
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message)
    }

    pub fn note(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, message)
    }

    pub fn at(mut self, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { source: Arc::clone(source), span, text: text.into() });
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    pub fn hint(mut self, hint: Hint) -> Diagnostic {
        self.hint = Some(hint);
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_from_one_and_in_characters() {
        let source = Source::new("x", "aé\nüb\n");
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(3), (1, 3));
        assert_eq!(source.line_column(6), (2, 2));
        assert_eq!(source.line_column(999), (3, 1));
    }
}

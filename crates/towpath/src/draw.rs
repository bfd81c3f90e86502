//! The one place that draws diagnostics.

use crate::out;
use crate::words::count;
use codespan_reporting::diagnostic::{Diagnostic as Drawn, Label as DrawnLabel};
use codespan_reporting::files::SimpleFiles;
use codespan_reporting::term::{self, Config};
use std::sync::Arc;
use towpath_core::{Diagnostic, Severity, Source};

/// Draws problems to stderr, each with its place.
pub fn draw(problems: &[Diagnostic], color: bool) {
    out::say(&render(problems, color));
}

/// Problems as text, with or without colour.
pub fn render(problems: &[Diagnostic], color: bool) -> String {
    let mut files = SimpleFiles::new();
    let mut known: Vec<(Arc<Source>, usize)> = Vec::new();
    let mut text = String::new();
    for problem in problems {
        let mut labels = Vec::new();
        for (index, label) in problem.labels.iter().enumerate() {
            let id = match known.iter().find(|(source, _)| Arc::ptr_eq(source, &label.source)) {
                Some((_, id)) => *id,
                None => {
                    let id = files.add(label.source.name.clone(), label.source.text.clone());
                    known.push((Arc::clone(&label.source), id));
                    id
                }
            };
            let range = label.span.range();
            let drawn = if index == 0 {
                DrawnLabel::primary(id, range)
            } else {
                DrawnLabel::secondary(id, range)
            };
            labels.push(drawn.with_message(&label.text));
        }
        let drawn = match problem.severity {
            Severity::Error => Drawn::error(),
            Severity::Warning => Drawn::warning(),
            Severity::Note => Drawn::note(),
        };
        let notes = problem.help.iter().map(|help| format!("help: {help}")).collect();
        let drawn = drawn.with_message(&problem.message).with_labels(labels).with_notes(notes);
        text.push_str(&one(&files, &drawn, color));
    }
    text
}

fn one(files: &SimpleFiles<String, String>, drawn: &Drawn<usize>, color: bool) -> String {
    let config = Config::default();
    let result = if color {
        let mut buffer = term::termcolor::Buffer::ansi();
        term::emit_to_write_style(&mut buffer, &config, files, drawn)
            .map(|()| String::from_utf8_lossy(buffer.as_slice()).into_owned())
    } else {
        term::emit_into_string(&config, files, drawn)
    };
    result.unwrap_or_else(|_| format!("{}\n", drawn.message))
}

/// `1 error, 2 warnings in build.yaml. Nothing was run.`
pub fn tally(problems: &[Diagnostic], name: &str) -> String {
    let number = |severity| problems.iter().filter(|p| p.severity == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    let what = if parts.is_empty() { "no problems".to_owned() } else { parts.join(", ") };
    let ran = if errors > 0 { ". Nothing was run." } else { "" };
    format!("{what} in {name}{ran}")
}

/// A problem for machines.
pub fn as_json(problem: &Diagnostic) -> serde_json::Value {
    let place = problem.labels.first();
    let at = place.map(|l| l.source.line_column(l.span.start));
    let hint = problem
        .help
        .clone()
        .or_else(|| place.map(|l| l.text.clone()).filter(|text| !text.is_empty()));
    serde_json::json!({
        "severity": problem.severity,
        "code": problem.code,
        "error": problem.message,
        "file": place.map(|l| l.source.name.clone()),
        "line": at.map(|a| a.0),
        "column": at.map(|a| a.1),
        "hint": hint,
    })
}

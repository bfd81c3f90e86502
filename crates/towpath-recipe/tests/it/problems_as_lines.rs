//! Problems as they are reported to the user, one line each.

use towpath_core::{Diagnostic, Severity, Source};

pub fn render(problems: &[Diagnostic]) -> String {
    problems.iter().map(|problem| line(problem) + "\n").collect()
}

/// `severity[code] file:line:col message | label | further locations | help`.
fn line(problem: &Diagnostic) -> String {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut labels = problem.labels.iter();
    let first = labels.next();
    let at = first.map_or(String::new(), |label| format!(" {}", location(label)));
    let mut parts = vec![format!("{severity}[{}]{at} {}", problem.code, problem.message)];
    parts.extend(first.map(|label| label.text.clone()));
    parts.extend(labels.map(|label| format!("{} {}", location(label), label.text)));
    parts.extend(problem.help.clone());
    parts.extend(problem.hint.as_ref().map(|hint| format!("{hint:?}")));
    parts.retain(|part| !part.is_empty());
    parts.join(" | ")
}

/// The location and what is written there.
fn location(label: &towpath_core::Label) -> String {
    let (line, column) = label.source.line_column(label.span.start);
    let there = label.source.text.get(label.span.range()).expect("a span is inside its source");
    format!("{}:{line}:{column} `{}`", label.source.name, there.replace('\n', "\\n"))
}

#[allow(dead_code)]
pub fn problems(text: &str) -> String {
    render(&towpath_recipe::read(&Source::new("r.yaml", text)).problems)
}

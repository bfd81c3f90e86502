//! Prose that looks like a directive: it stays prose, and the author is asked whether it was meant.

use super::directive_line::begins_directive;
use crate::document::FileKind;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span, nearest};

pub(super) struct NearMiss {
    span: Span,
    help: String,
    /// It is worth a warning in every file, not only where there are directives.
    pub always: bool,
}

/// The words of directives, and how each is written.
const SHAPES: [(&str, &str); 7] = [
    ("run", "a command is written in brackets, @run [command], and a call as @run $name(…)"),
    ("embed", "a file is written in brackets, @embed [file], and a value as @embed {{name}}"),
    ("import", "a file is written in brackets: @import [file], @import [a, b] from [file]"),
    ("text", "a text is written as @text name = \"…\""),
    ("data", "a value is written as @data name = {…}"),
    ("path", "a path is written as @path name = \"…\""),
    ("define", "a command is defined as @define name(a, b) = @run [command]"),
];

/// `start` is where the line's content begins.
pub(super) fn find(content: &str, start: usize, kind: FileKind) -> Option<NearMiss> {
    let text = content.trim_start_matches([' ', '\t']);
    let start = start + content.len() - text.len();
    let span = Span { start, end: start + text.trim_end().len() };
    if text.len() < content.len() {
        let help = "a directive begins at the document's left edge".to_owned();
        return begins_directive(text).then_some(NearMiss { span, help, always: false });
    }
    let rest = text.strip_prefix('@')?;
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (word, rest) = rest.split_at(end);
    let separate = !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let shape = SHAPES.iter().find(|(known, _)| *known == word);
    if let Some((_, help)) = shape.filter(|_| separate && !rest.trim().is_empty()) {
        return Some(NearMiss { span, help: (*help).to_owned(), always: true });
    }
    let near = nearest(word, SHAPES.map(|(known, _)| known)).filter(|_| word.len() < 10);
    if let Some(near) = near.filter(|near| begins_directive(&format!("@{near}{rest}"))) {
        return Some(NearMiss { span, help: format!("did you mean @{near}?"), always: false });
    }
    let help = "there is no such directive".to_owned();
    let meant = kind == FileKind::Meld && !word.is_empty() && separate;
    meant.then_some(NearMiss { span, help, always: true })
}

/// `{{name>>format}}`, which Meld has, where its `{{` is at `start`.
pub(super) fn formatted_reference(text: &str, start: usize) -> Option<NearMiss> {
    let inside = text.get(start + 2..)?;
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    let name = inside.find(|c: char| !in_name(c)).filter(|end| *end > 0)?;
    let format = inside[name..].strip_prefix(">>")?;
    let end = format.find(|c: char| !in_name(c)).filter(|end| format[*end..].starts_with("}}"))?;
    let span = Span { start, end: text.len() - format.len() + end + 2 };
    let help = "a reference has no format: write {{name}}".to_owned();
    Some(NearMiss { span, help, always: false })
}

/// `{{name` without its end.
pub(super) fn unclosed_reference(span: Span) -> NearMiss {
    NearMiss { span, help: "a reference ends with }} on its line".to_owned(), always: false }
}

impl NearMiss {
    pub fn warning(self, source: &Arc<Source>) -> Diagnostic {
        super::warning(source, self.span, "this looks like a directive, and is prose")
            .help(self.help)
    }
}

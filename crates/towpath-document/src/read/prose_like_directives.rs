//! Prose that looks like a directive: it stays prose, and the author is asked whether it was meant.

use super::directive_line::begins_directive;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span};

pub(super) struct NearMiss {
    span: Span,
    help: &'static str,
}

/// `start` is where the line's content begins.
pub(super) fn find(content: &str, start: usize) -> Option<NearMiss> {
    let text = content.trim_start_matches([' ', '\t']);
    let start = start + content.len() - text.len();
    let span = Span { start, end: start + text.trim_end().len() };
    if text.len() < content.len() {
        let help = "a directive begins at the document's left edge";
        return begins_directive(text).then_some(NearMiss { span, help });
    }
    let after = text.strip_prefix("@run")?.strip_prefix([' ', '\t'])?;
    let help = "a command is written in brackets: @run [command]";
    (!after.trim().is_empty()).then_some(NearMiss { span, help })
}

impl NearMiss {
    pub fn warning(self, source: &Arc<Source>) -> Diagnostic {
        super::warning(source, self.span, "this looks like a directive, and is prose")
            .help(self.help)
    }
}

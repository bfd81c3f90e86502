//! The location of a directive in its file, where its problems are reported.

use crate::problem_codes::RESOLUTION_FAILED;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span};

/// A location in a file.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub source: Arc<Source>,
    pub span: Span,
    pub line: usize,
}

impl Location {
    pub fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message).at(&self.source, self.source.first_line(self.span), "")
    }

    pub fn warning(&self, message: impl Into<String>) -> Diagnostic {
        let problem = Diagnostic::warning(RESOLUTION_FAILED, message);
        problem.at(&self.source, self.source.first_line(self.span), "")
    }
}

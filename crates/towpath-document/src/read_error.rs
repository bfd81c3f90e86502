//! Why a directive cannot be read.

use crate::problem_codes::VALIDATION_FAILED;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span};

/// Why a directive cannot be read.
#[derive(Debug)]
pub(crate) struct ReadError {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

impl ReadError {
    pub fn new(span: Span, message: impl Into<String>) -> ReadError {
        ReadError { span, message: message.into(), help: None }
    }

    pub fn help(mut self, help: impl Into<String>) -> ReadError {
        self.help = Some(help.into());
        self
    }

    pub fn diagnostic(self, source: &Arc<Source>) -> Diagnostic {
        let problem = Diagnostic::error(VALIDATION_FAILED, self.message).at(source, self.span, "");
        match self.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

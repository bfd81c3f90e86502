//! The problems of documents, with the codes that Meld gave them.

use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span};

/// The document is not written as it must be.
pub const VALIDATION_FAILED: &str = "VALIDATION_FAILED";
/// A command could not run, or has failed.
pub const EXECUTION_FAILED: &str = "EXECUTION_FAILED";
/// A value is not what its use needs.
pub const RESOLUTION_FAILED: &str = "RESOLUTION_FAILED";
pub const VARIABLE_NOT_FOUND: &str = "VARIABLE_NOT_FOUND";
pub const FILE_NOT_FOUND: &str = "FILE_NOT_FOUND";
pub const SECTION_NOT_FOUND: &str = "SECTION_NOT_FOUND";
/// Commands or files that need each other.
pub const CIRCULAR_REFERENCE: &str = "CIRCULAR_REFERENCE";

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

//! References in prose: replaced by values, or left as they are written.

use super::Evaluation;
use crate::definition_scope::{Computed, Missing};
use crate::document::{Document, Node};
use crate::problem_codes::{RESOLUTION_FAILED, VARIABLE_NOT_FOUND};
use crate::resolve_command::missing_message;
use towpath_core::{Diagnostic, Span, VarPath, text_of};

/// How many undefined names are reported: a document with more was not typed.
const MOST_UNDEFINED: usize = 100;

impl Evaluation {
    /// A reference in prose. A backslash goes only where it prevents something.
    pub(super) fn reference(
        &mut self,
        document: &Document,
        node: &Node,
        path: &VarPath,
        backslashes: usize,
    ) {
        let escaped = backslashes % 2 == 1;
        let found = self.frame().scope.find(path, None);
        let span = Span { start: node.range.start + backslashes, end: node.range.end };
        match found {
            Ok(Computed::Known(_)) if escaped && self.leaves_commands() => {
                self.copy(document, node.range.clone());
            }
            Ok(Computed::Known(value)) => {
                self.output.extend(std::iter::repeat_n(b'\\', backslashes / 2));
                match escaped {
                    true => self.copy(document, span.range()),
                    false => self.write_value(document, &text_of(&value), span),
                }
            }
            Err(missing) if !escaped && missing != Missing::NoArguments => {
                self.missing_in_prose(document, path, &missing, span);
                self.copy(document, node.range.clone());
            }
            _ => self.copy(document, node.range.clone()),
        }
    }

    fn write_value(&mut self, document: &Document, text: &str, span: Span) {
        match self.limits.take_text(text) {
            Ok(()) => self.output.extend_from_slice(text.as_bytes()),
            Err(message) => {
                let problem = Diagnostic::error(RESOLUTION_FAILED, message);
                self.problem(problem.at(&document.source, span, ""));
            }
        }
    }

    /// An undefined name is text that another program reads; a field that is not there is a mistake.
    pub(super) fn missing_in_prose(
        &mut self,
        document: &Document,
        path: &VarPath,
        missing: &Missing,
        span: Span,
    ) {
        // Ordinary Markdown has braces for others. Elsewhere one warning for each name is enough.
        if *missing != Missing::Field {
            let few = self.warns_of_undefined && self.undefined.len() < MOST_UNDEFINED;
            if !few || !self.undefined.insert(path.root().to_owned()) {
                return;
            }
        }
        let scope = &self.frames.last().expect("a frame is open").scope;
        let near = || self.limits.suggestion(|| scope.nearest_variable(path.root()));
        let (message, help) = missing_message(path, missing, near);
        let mut problem = match missing {
            Missing::Field => Diagnostic::error(VARIABLE_NOT_FOUND, message),
            _ => Diagnostic::warning(VARIABLE_NOT_FOUND, format!("{message}: it stays as it is")),
        };
        problem.help = help;
        self.problem(problem.at(&document.source, span, ""));
    }
}

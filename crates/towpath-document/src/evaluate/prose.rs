//! References in prose, and marked regions of a file.

use super::{Evaluation, Next, Target};
use crate::commands::{Site, missing_message};
use crate::definition_scope::{Computed, Missing};
use crate::directive::{Call, Invocation};
use crate::document::{Document, Node, NodeKind};
use crate::problems::{RESOLUTION_FAILED, VARIABLE_NOT_FOUND};
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Diagnostic, Span, VarPath, text_of};

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
        match self.allowance.take_text(text) {
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
        if !self.foresees && *missing != Missing::Field {
            return;
        }
        let scope = &self.frames.last().expect("a frame is open").scope;
        let near = || self.allowance.suggestion(|| scope.nearest_variable(path.root()));
        let (message, help) = missing_message(path, missing, near);
        let mut problem = match missing {
            Missing::Field => Diagnostic::error(VARIABLE_NOT_FOUND, message),
            _ => Diagnostic::warning(VARIABLE_NOT_FOUND, format!("{message}: it stays as it is")),
        };
        problem.help = help;
        self.problem(problem.at(&document.source, span, ""));
    }

    /// The region of a file: its body gives way to a variable, or to what a command prints.
    pub(super) fn region(
        &mut self,
        document: &Arc<Document>,
        node: &Node,
        name: &str,
        body: &Range<usize>,
    ) -> Option<Next> {
        self.copy(document, node.range.start..body.start);
        let span = Span { start: node.range.start, end: body.start };
        let (line, _) = document.source.line_column(span.start);
        let site = Site { source: Arc::clone(&document.source), span, line };
        let scope = &self.frame().scope;
        let value = VarPath::new(name).map(|path| scope.find(&path, None));
        match value {
            Some(Ok(value)) => {
                let text = value.map(|value| text_of(&value).into_bytes());
                self.deliver(&Target::Region, &site, text);
                None
            }
            _ if scope.command(name).is_some() => {
                let call = Call { name: name.to_owned(), arguments: Vec::new(), span };
                self.run(&Invocation::Call(call), Target::Region, site)
            }
            _ => {
                let problem = site.error(VARIABLE_NOT_FOUND, format!("`{name}` is not defined"));
                self.problem(problem.help("define it in a comment that begins with <!-- towpath"));
                None
            }
        }
    }

    /// The rest of a region, after its body was replaced or left.
    pub(super) fn write_region(&mut self, text: Option<&[u8]>) {
        let document = Arc::clone(self.set.entry());
        let Some(Node { range, kind: NodeKind::Region { body, .. } }) = self.entry_node(&document)
        else {
            return;
        };
        match text {
            None => self.copy(&document, body.clone()),
            Some(text) => {
                self.output.extend_from_slice(text);
                if !text.is_empty() {
                    let before = &document.bytes()[..body.start];
                    let ending: &[u8] = if before.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
                    self.output.extend_from_slice(ending);
                }
            }
        }
        self.copy(&document, body.end..range.end);
    }
}

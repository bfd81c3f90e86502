//! Marked regions of a file, whose body is replaced.

use super::{Evaluation, Next, Target};
use crate::directive::{Call, Invocation};
use crate::directive_location::Location;
use crate::document::{Document, Node, NodeKind};
use crate::problem_codes::VARIABLE_NOT_FOUND;
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Span, VarPath, text_of};

impl Evaluation {
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
        let location = Location { source: Arc::clone(&document.source), span, line };
        let scope = &self.frame().scope;
        let value = VarPath::new(name).map(|path| scope.find(&path, None));
        match value {
            Some(Ok(value)) => {
                let text = value.map(|value| text_of(&value).into_bytes());
                self.deliver(&Target::Region, &location, text);
                None
            }
            _ if scope.command(name).is_some() => {
                let call = Call { name: name.to_owned(), arguments: Vec::new(), span };
                self.run(&Invocation::Call(call), Target::Region, location)
            }
            _ => {
                let problem =
                    location.error(VARIABLE_NOT_FOUND, format!("`{name}` is not defined"));
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

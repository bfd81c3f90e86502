//! Marked regions of a file, whose body is replaced.

use super::{Evaluation, Next, Target};
use crate::directive::{Call, DirectiveKind, Invocation};
use crate::document::{Document, Node, NodeKind, Region, RegionText};
use crate::location::Location;
use crate::problem_codes::VARIABLE_NOT_FOUND;
use std::sync::Arc;
use towpath_core::{VarPath, text_of};

impl Evaluation {
    /// The region of a file: its body gives way to a value, to what a command prints, or to a file.
    pub(super) fn region(
        &mut self,
        document: &Arc<Document>,
        node: &Node,
        region: &Region,
    ) -> Option<Next> {
        self.copy(document, node.range.start..region.body.start);
        let (span, line) = (region.head, region.line);
        let location = Location { source: Arc::clone(&document.source), span, line };
        let name = match &region.shows {
            RegionText::Directive(kind) => return self.shown(kind, Target::Region, location),
            RegionText::Name(name) => name,
        };
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
                let help = "define it in a comment that begins with <!-- towpath, or write what it \
                            shows in the marker: @run […], @embed […]";
                self.problem(problem.help(help));
                None
            }
        }
    }

    /// The result of `@run` or `@embed`.
    pub(super) fn shown(
        &mut self,
        kind: &DirectiveKind,
        target: Target,
        location: Location,
    ) -> Option<Next> {
        match kind {
            DirectiveKind::Run(invocation) => self.run(invocation, target, location),
            DirectiveKind::Embed(file) => self.embed(file, target, location),
            DirectiveKind::EmbedValue(text) => {
                self.left_if_unknown(text);
                let text = self.text(text, &location).map(String::into_bytes);
                self.deliver(&target, &location, text);
                None
            }
            _ => None,
        }
    }

    /// The rest of a region, after its body was replaced or left.
    pub(super) fn write_region(&mut self, text: Option<&[u8]>, location: &Location) {
        let document = Arc::clone(self.set.entry());
        let Some(Node { range, kind: NodeKind::Region(region) }) = self.entry_node(&document)
        else {
            return;
        };
        let body = &document.bytes()[region.body.clone()];
        match text {
            None => self.copy(&document, region.body.clone()),
            Some(b"") if !body.trim_ascii().is_empty() => {
                self.problem(location.warning("this region had text, and is empty now"));
            }
            Some(b"") => {}
            Some(text) => {
                let before = &document.bytes()[..region.body.start];
                let ending: &[u8] = if before.ends_with(b"\r\n") { b"\r\n" } else { b"\n" };
                for line in text.split_inclusive(|byte| *byte == b'\n') {
                    if !line.trim_ascii().is_empty() {
                        self.copy(&document, region.indentation.clone());
                    }
                    self.output.extend_from_slice(line);
                }
                self.output.extend_from_slice(ending);
            }
        }
        self.copy(&document, region.body.end..range.end);
    }
}

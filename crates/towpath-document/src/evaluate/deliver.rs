//! Where the text of a command or a file goes.

use super::{Evaluation, Target};
use crate::definition_scope::Computed;
use crate::document::{Node, NodeKind};
use crate::location::Location;
use crate::problem_codes::RESOLUTION_FAILED;
use crate::read::delimits_region;
use std::sync::Arc;
use towpath_core::Value;

impl Evaluation {
    /// Puts the text of a command or a file where it belongs, without the newlines at its end.
    pub(super) fn deliver(
        &mut self,
        target: &Target,
        location: &Location,
        bytes: Computed<Vec<u8>>,
    ) {
        let Computed::Known(bytes) = bytes else {
            match target {
                Target::Text(name) => self.set_text(name, Computed::Unknown),
                Target::Data(name) => self.set_variable(name, Computed::Unknown),
                Target::Region => return self.write_region(None, location),
                Target::Document | Target::Scope => {}
            }
            return self.leave_as_written();
        };
        let end = bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last + 1);
        let bytes = &bytes[..end];
        match target {
            Target::Scope => {}
            Target::Document => self.write_with_ending(bytes),
            Target::Region if contains_marker(bytes) => {
                let message = "this text has a line that begins or ends a region: with it, the \
                               file could not be rendered again";
                self.problem(location.error(RESOLUTION_FAILED, message));
            }
            Target::Region => self.write_region(Some(bytes), location),
            Target::Text(name) => {
                let text = self.utf8(bytes, location);
                self.set_variable(name, Computed::Known(Value::String(text)));
            }
            Target::Data(name) => {
                let text = self.utf8(bytes, location);
                let value = self.json(&text, location);
                self.set_variable(name, value);
            }
        }
    }

    /// The directive's own line ending follows, if there is anything to end.
    pub(super) fn write_with_ending(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.output.extend_from_slice(bytes);
        let document = Arc::clone(self.set.entry());
        if let Some(Node { kind: NodeKind::Directive(directive), .. }) = self.entry_node(&document)
        {
            self.copy(&document, directive.ending.clone());
        }
    }

    pub(super) fn leave_as_written(&mut self) {
        if self.in_entry() {
            let document = Arc::clone(self.set.entry());
            if let Some(node) = self.entry_node(&document) {
                self.copy(&document, node.range.clone());
            }
        }
    }

    pub(super) fn utf8(&mut self, bytes: &[u8], location: &Location) -> String {
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            let message = "this is not UTF-8: as a value, bad bytes become U+FFFD";
            self.problem(location.warning(message));
        }
        text.into_owned()
    }

    pub(super) fn json(&mut self, text: &str, location: &Location) -> Computed<Value> {
        match serde_json::from_str(text) {
            Ok(value) => Computed::Known(value),
            Err(error) => {
                let message = format!("this is not JSON: {error}");
                self.problem(location.error(RESOLUTION_FAILED, message));
                Computed::Unknown
            }
        }
    }
}

fn contains_marker(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"towpath:").is_some()
        && String::from_utf8_lossy(bytes).lines().any(delimits_region)
}

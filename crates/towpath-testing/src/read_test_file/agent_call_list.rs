//! The agent calls that a case expects: how many, or each of them.

use super::Reader;
use crate::expected_calls::{ExpectedCall, ExpectedCalls};
use crate::suite::Name;
use towpath_core::fields::{FieldType, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};

pub(super) const CALL_KEYS: &[&str] = &["step", "kind", "model", "session"];
pub(super) const KINDS: &[&str] = &["prompt", "reminder"];
pub(super) const SESSIONS: &[&str] = &["new", "resumed"];

impl Reader<'_> {
    /// How many calls, or each of them.
    pub(super) fn calls(&mut self, entry: &Entry) -> Option<ExpectedCalls> {
        match &entry.value.kind {
            Kind::Number(_) => {
                self.whole_number(Some(entry)).map(|count| ExpectedCalls::Count(count as usize))
            }
            Kind::List(items) => {
                let each: Vec<_> = items.iter().map(|item| self.call(item)).collect();
                Some(ExpectedCalls::Each(each.into_iter().flatten().collect()))
            }
            _ => {
                self.wrong_type(entry, FieldType::Described("a number, or a list of calls"));
                None
            }
        }
    }

    fn call(&mut self, node: &Node) -> Option<ExpectedCall> {
        if let Some(text) = node.scalar() {
            let step = Name { text, span: self.source.first_line(node.defined) };
            return Some(ExpectedCall { step: Some(step), ..ExpectedCall::default() });
        }
        let fields = self.fields(node, Subject::Noun("call"), CALL_KEYS)?;
        let get = |key: &str| fields.get(key).filter(|entry| !entry.is_null());
        let model = match fields.get("model") {
            Some(entry) if entry.is_null() => Some(None),
            Some(entry) => self.text(entry).map(Some),
            None => None,
        };
        let call = ExpectedCall {
            step: self.name(get("step")),
            kind: self.choice(get("kind"), KINDS),
            model,
            session: self.choice(get("session"), SESSIONS),
        };
        if matches!(&node.kind, Kind::Map(entries) if entries.is_empty()) {
            let span = self.source.line_from(node.span.start);
            self.error("empty-call", "this call expects nothing".to_owned(), span, "");
        }
        Some(call)
    }
}

//! What becomes of a call: nothing, another input, or a refusal.

use crate::rule::RECIPE;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum Correction {
    Unchanged,
    Rewritten(Rewrite),
    Denied(Denial),
}

/// The call runs with another input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rewrite {
    /// All of the input, in its order.
    pub input: Value,
    /// The parameter that was edited, before and after.
    pub parameter: String,
    pub before: String,
    pub after: String,
    /// In the order of the text, without overlap.
    pub edits: Vec<Edit>,
    pub applied: Vec<Applied>,
    /// Every word of the result was written by a rule.
    pub vouched: bool,
}

/// A piece of the original text and what is written there instead. All other bytes stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
    /// The numbers of the rules that made it.
    pub rules: Vec<u64>,
}

/// A rule that changed the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    pub rule: u64,
    /// What became what: `grep → rg`.
    pub description: String,
    pub message: Option<String>,
    /// Arguments that the result does not have any more, as they were written.
    pub dropped: Vec<String>,
}

/// The call does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    pub rules: Vec<u64>,
    /// Written for the agent: why, and what to do instead.
    pub reason: String,
}

impl Rewrite {
    /// What the agent is shown: `Corrected: gt x → [recipe] (MESSAGE). Dropped: --timeout 30`.
    pub fn context(&self) -> String {
        let one = |applied: &Applied| match &applied.message {
            Some(message) => format!("{} ({message})", applied.description),
            None => applied.description.clone(),
        };
        let corrected: Vec<String> = self.applied.iter().map(one).collect();
        let dropped: Vec<&str> =
            self.applied.iter().flat_map(|a| &a.dropped).map(String::as_str).collect();
        let mut text = format!("Corrected: {}", corrected.join("; "));
        if !dropped.is_empty() {
            text.push_str(". Dropped: ");
            text.push_str(&dropped.join(" "));
        }
        text
    }
}

impl Rewrite {
    /// The same for an agent that does not see the corrected call: of a recipe with what runs.
    pub fn explanation(&self) -> String {
        const MOST: usize = 300;
        let context = self.context();
        if !self.applied.iter().any(|applied| applied.description.ends_with(RECIPE)) {
            return context;
        }
        let (end, more) = match self.after.char_indices().nth(MOST) {
            Some((end, _)) => (end, "…"),
            None => (self.after.len(), ""),
        };
        format!("{context}\nThis runs instead:\n{}{more}", &self.after[..end])
    }
}

/// The text with its edits, which are in order and do not overlap.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        edited.push_str(&text[at..edit.range.start]);
        edited.push_str(&edit.text);
        at = edit.range.end;
    }
    edited.push_str(&text[at..]);
    edited
}

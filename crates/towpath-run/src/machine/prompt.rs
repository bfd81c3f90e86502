//! The prompts of a state machine: the step's own text and, after it, how to report. The text is
//! part of what recipes rely on and is exact to the byte.

use crate::reported::{Misreport, MisreportKind, PLACEHOLDER};
use towpath_recipe::OTHER;

/// The prompt of a step: its own text, and the outcomes to choose from.
pub(super) fn prompt<'a>(text: &str, outcomes: impl Iterator<Item = &'a str>) -> String {
    let blocks = blocks(outcomes);
    format!(
        "{text}\n\nEnd your response with one of these JSON blocks on the last line:\n\n{blocks}"
    )
}

/// What comes before the first prompt of a session.
pub(super) fn with_context(context: &str, prompt: &str) -> String {
    format!("## Context\n\n{context}\n\n---\n\n{prompt}")
}

/// Sent once, in the same session, when an answer reports nothing.
pub(super) fn reminder<'a>(fault: &Misreport, outcomes: impl Iterator<Item = &'a str>) -> String {
    let opener = match fault.kind {
        MisreportKind::NoBlock => {
            "Your previous response did not include the required JSON outcome block."
        }
        MisreportKind::Invalid => {
            "Your previous response ended with a block that is not valid JSON."
        }
        MisreportKind::NoOutcome => {
            "Your previous response ended with JSON that is not an outcome block."
        }
        MisreportKind::Unlisted => {
            "Your previous response chose an outcome that is not valid for this step."
        }
        MisreportKind::NoDescription => {
            "Your previous response chose the outcome 'other' without describing it."
        }
    };
    let error = &fault.error;
    let blocks = blocks(outcomes);
    format!(
        "{opener}\nPlease respond now with ONLY the JSON outcome on a single line.\n\n\
         Error: {error}\n\nValid responses:\n\n{blocks}\n\n\
         Respond with ONLY the JSON block, nothing else."
    )
}

/// One line per outcome, sorted, `other` last.
fn blocks<'a>(outcomes: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = outcomes.collect();
    names.sort_by_key(|name| (*name == OTHER, *name));
    let line = |name: &str| {
        let name = serde_json::Value::from(name);
        if name == OTHER {
            format!("{{\"outcome\": {name}, \"otherDescription\": \"{PLACEHOLDER}\"}}")
        } else {
            format!("{{\"outcome\": {name}}}")
        }
    };
    names.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

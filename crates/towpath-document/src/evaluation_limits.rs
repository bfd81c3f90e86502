//! What one evaluation may spend where a document can ask for any amount of it.

use std::cell::Cell;

/// How many names are suggested: nobody reads more, and each is looked for among all others.
const SUGGESTIONS: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct EvaluationLimits {
    /// How many bytes references may still give.
    text: Cell<usize>,
    suggestions: Cell<usize>,
}

impl EvaluationLimits {
    pub fn new(text: usize) -> EvaluationLimits {
        EvaluationLimits { text: Cell::new(text), suggestions: Cell::new(SUGGESTIONS) }
    }

    /// Counts the text of one more reference.
    pub fn take_text(&self, text: &str) -> Result<(), &'static str> {
        self.take(text.len())
    }

    /// Counts so many bytes of a reference or a file.
    pub fn take(&self, bytes: usize) -> Result<(), &'static str> {
        let left = self.text.get().checked_sub(bytes);
        self.text.set(left.unwrap_or(0));
        left.map(drop).ok_or("the references of this document give more text than it may have")
    }

    /// A name that may be meant, as long as it is worth the search.
    pub fn suggestion<T>(&self, search: impl FnOnce() -> Option<T>) -> Option<T> {
        let left = self.suggestions.get().checked_sub(1)?;
        self.suggestions.set(left);
        search()
    }
}

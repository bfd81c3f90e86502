//! The words of a simple command as the tables of programs and wrappers read them.

use super::tree::Word;
use std::ops::Range;

/// The words of a simple command, with the text they were parsed from.
pub struct CommandWords<'a> {
    pub words: &'a [Word],
    pub source: &'a str,
    /// Whether a stretch of the text is only known later.
    pub open: &'a dyn Fn(&Range<usize>) -> bool,
}

impl CommandWords<'_> {
    pub fn get(&self, range: Range<usize>) -> Option<&[Word]> {
        self.words.get(range)
    }

    /// A word that is known already.
    pub fn text(&self, index: usize) -> Option<&str> {
        let word = self.words.get(index)?;
        word.text.as_deref().filter(|_| !(self.open)(&word.range))
    }

    /// A word that begins like an option, also if only its start is known: `-u{{user}}`.
    pub fn option(&self, index: usize) -> Option<&str> {
        let source = self.source(index);
        self.text(index).or(Some(source)).filter(|text| text.starts_with('-'))
    }

    pub fn source(&self, index: usize) -> &str {
        self.words.get(index).map_or("", |w| &self.source[w.range.clone()])
    }

    /// The name of a program without its directory.
    pub fn base(&self, index: usize) -> Option<&str> {
        self.text(index).map(|name| name.rsplit('/').next().unwrap_or(name))
    }
}

//! What a map of fields is called in messages.

use std::fmt;

/// Displayed with the indefinite article: `a step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// `step` is `a step` in general, and `the step` where one is meant.
    Noun(&'a str),
    /// The map of this key: `` `hooks` ``.
    Key(&'a str),
}

impl Subject<'_> {
    /// The one that is being read.
    pub(super) fn definite(self) -> String {
        match self {
            Subject::Noun(noun) => format!("the {noun}"),
            Subject::Key(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Noun(noun) if noun.starts_with(['a', 'e', 'i', 'o', 'u']) => {
                write!(f, "an {noun}")
            }
            Subject::Noun(noun) => write!(f, "a {noun}"),
            Subject::Key(key) => write!(f, "`{key}`"),
        }
    }
}

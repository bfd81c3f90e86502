//! Bash text as a tree of plain data with byte ranges. It knows nothing of placeholders, starts no
//! shell and expands nothing.
//!
//! The parser library is used in `grammar` alone. A scanner of our own reads the same text
//! independently, and where the two differ the text counts as not understood: a wrong range would be
//! a wrong edit later.

pub(crate) mod agreement;
pub(crate) mod command_words;
mod commands;
pub(crate) mod deep_stack;
pub(crate) mod grammar;
mod nesting;
pub(crate) mod program_table;
pub(crate) mod programs;
pub(crate) mod quoting;
mod relocate;
pub(crate) mod scanner;
mod script;
pub mod tree;
pub mod visit;
mod wrappers;

pub use commands::SimpleCommand;
pub use nesting::Nesting;
pub use quoting::quote;
pub use script::{LONGEST, Script, parse, tokenize};
use std::ops::Range;

/// Whether every detail of a piece of text counts.
pub(crate) type Exact<'a> = dyn Fn(&Range<usize>) -> bool + 'a;

/// The text is not bash, or not bash that is understood for sure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotBash {
    pub range: Range<usize>,
    pub reason: Reason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("{0}")]
    Syntax(String),
    /// Bash may read the part in another way than it seems.
    #[error("it is not certain how bash would read this part")]
    Unsure,
    #[error("the text is longer than {LONGEST} bytes")]
    TooLong,
}

impl NotBash {
    pub(crate) fn syntax(range: Range<usize>, message: impl Into<String>) -> NotBash {
        NotBash { range, reason: Reason::Syntax(message.into()) }
    }

    pub(crate) fn unsure(range: Range<usize>) -> NotBash {
        NotBash { range, reason: Reason::Unsure }
    }
}

//! Bash text as a tree of plain data with byte ranges. It knows nothing of placeholders, starts no
//! shell and expands nothing.
//!
//! The parser library is used in `parser_library` alone. A scanner of our own reads the same text
//! independently, and where the two differ the text counts as not understood: a wrong range would be
//! a wrong edit later.

pub(crate) mod code_programs;
pub(crate) mod command_words;
pub(crate) mod deep_stack;
pub(crate) mod difference;
mod nesting;
mod parsed_script;
pub(crate) mod parser_library;
pub(crate) mod quoting;
mod relocate_tree;
pub(crate) mod scanner;
pub(crate) mod shell_code;
mod simple_commands;
pub mod tree;
pub mod visit;
mod wrapper_programs;

pub use nesting::Nesting;
pub use parsed_script::{LONGEST, Script, parse, tokenize};
pub use quoting::quote;
pub use simple_commands::SimpleCommand;
use std::ops::Range;
pub use wrapper_programs::starts_programs;

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

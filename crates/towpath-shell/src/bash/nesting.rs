//! What a command is part of: the constructs around it, as far as they decide how often it runs, what
//! reads its output, and how its text is quoted.

use super::tree::SubstitutionKind;
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nesting {
    /// One command of `a | b`.
    Pipeline,
    /// One side of `&&` or `||`.
    AndOr {
        /// Another command decides whether it runs.
        right: bool,
    },
    /// Behind `!`.
    Negated,
    /// Ended by `&`.
    Background,
    /// Behind `time`.
    Timed,
    Coprocess,
    Group,
    Subshell,
    /// The commands between `if` and `then`, or `while` and `do`.
    Condition,
    /// One of several bodies: of `if` or `case`.
    Branch,
    /// The body of a loop, and the condition of `while` and `until`.
    Loop,
    Function,
    /// `$(…)`, `` `…` ``, `<(…)` or `>(…)`.
    Substitution {
        kind: SubstitutionKind,
        range: Range<usize>,
        /// Inside double quotes.
        quoted: bool,
    },
    /// The body of a here-document that bash expands.
    HereDocument,
    /// Started by this program, whose words are in front: `sudo`, `xargs`, `find`.
    Wrapper(&'static str),
    /// The code of `bash -c`. What is written there is read by two shells.
    ShellCode {
        /// The word with the code, quotes included.
        word: Range<usize>,
    },
}

impl Nesting {
    /// Whether the commands in it are a list of their own, with separators between them.
    pub fn is_list(&self) -> bool {
        !matches!(
            self,
            Nesting::Pipeline
                | Nesting::AndOr { .. }
                | Nesting::Negated
                | Nesting::Background
                | Nesting::Timed
                | Nesting::Coprocess
                | Nesting::Wrapper(_)
                | Nesting::HereDocument
        )
    }
}

//! Code for another shell in the words of a command: `bash -c "… {{v}} …"`, `ssh HOST "…"`.
//!
//! Where those words are plain text but for their placeholders, the text that the other shell gets is
//! known. It is read as a text of its own, and the command gets the result in one variable: the code
//! begins with the values, each as one word in single quotes, which every POSIX shell reads alike.
//! Where an expansion is beside the placeholders the code is not known before it runs: that is
//! not decided here, and warned about.

use crate::bash::command_words::CommandWords;
use crate::bash::parser_library;
use crate::bash::quoting;
use crate::bash::shell_code;
use crate::bash::tree::{Redirect, Simple};
use crate::code_warnings;
use crate::mark::Region;
use std::ops::Range;

/// Shells in shells are read this deep.
pub const MAX_DEPTH: usize = 4;

/// The code that a command hands to another shell.
pub struct NestedCode {
    /// Its words, in the text around it.
    pub range: Range<usize>,
    /// The text as the other shell gets it.
    pub region: Region,
    /// The shell that reads it.
    pub shell: &'static str,
}

/// The code in a command's words, if it has placeholders and is known but for them.
pub fn find(simple: &Simple, redirects: &[Redirect], region: &Region) -> Option<NestedCode> {
    let words =
        CommandWords { words: &simple.words, source: &region.text, open: &|r| region.has_mark(r) };
    let (indexes, shell) = shell_code::shell_code(&words)?;
    let code = &simple.words[indexes];
    let range = code.first()?.range.start..code.last()?.range.end;
    // A value that is all of the code is meant to be code.
    let meant = matches!(code, [word] if code_warnings::is_one_placeholder(region, word));
    let divided = redirects.iter().any(|r| r.range.start < range.end && range.start < r.range.end);
    if meant || divided || !region.has_mark(&range) {
        return None;
    }
    let open = |at: usize| region.marks.binary_search_by_key(&at, |m| m.at).is_ok();
    let mut chars = Vec::new();
    for (index, word) in code.iter().enumerate() {
        if index > 0 {
            chars.push((word.range.start..word.range.start, ' '));
        }
        chars.extend(quoting::characters(word, &region.text, &open)?);
    }
    let inner = region.select(&chars, range.end);
    // These have a syntax of their own.
    let other =
        matches!(shell, "zsh" | "ksh") && parser_library::parse(&inner.text, &inner.text).is_err();
    (!other).then_some(NestedCode { range, region: inner, shell })
}

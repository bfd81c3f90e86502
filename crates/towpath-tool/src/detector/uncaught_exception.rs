//! Uncaught exceptions. Their stack quotes source code, in which anything may be written; only the lines
//! around it are the program's own words. The last line of the exception is what decides.

use crate::clean_printed_text::Line;
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct Exception {
    /// Lines of the stack, by their index.
    pub quoted: BTreeSet<usize>,
    /// There is a stack, so something was not caught.
    pub uncaught: bool,
}

/// Lines that begin the stack of a Python exception.
const PYTHON: &str = "Traceback (most recent call last):";

pub(super) fn find(lines: &[Line]) -> Exception {
    let mut exception = Exception::default();
    let mut inside = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.text.as_str();
        if text.trim_end() == PYTHON {
            exception.uncaught = true;
            inside = true;
            exception.quoted.insert(at);
        } else if inside && (text.starts_with([' ', '\t']) || text.is_empty()) {
            exception.quoted.insert(at);
        } else if is_stack_line(text) || is_python_location(text) {
            exception.uncaught = true;
            inside = is_python_location(text);
            exception.quoted.insert(at);
        } else {
            inside = false;
        }
    }
    exception
}

/// `    at Module.load (node:internal/…)` of Node, and the same with a tab of Java.
fn is_stack_line(text: &str) -> bool {
    let trimmed = text.trim_start();
    let location = text.contains(':') || text.ends_with(')');
    let version = text.strip_prefix("Node.js v");
    let version = version.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let of_node = text.starts_with("node:internal/") || version;
    of_node || (trimmed.len() < text.len() && trimmed.starts_with("at ") && location)
}

/// `  File "/usr/bin/x", line 3`, without the line that begins a traceback: a syntax error.
fn is_python_location(text: &str) -> bool {
    text.starts_with("  File \"") && text.contains("\", line ")
}

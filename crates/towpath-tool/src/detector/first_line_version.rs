//! The version in a first line that is the title of a program, under whatever name: the last resort of the
//! search. Complaints, measurements and counts begin like titles and are none.

use super::prepared_observation::Reading;
use super::version_masks::RUNTIME_LINES;
use super::version_output::{Candidate, MOST_WORDS, best_token, directly_after, words};
use crate::version_token::is_integer;
use std::ops::Range;

/// `openjdk 17.0.15 2025-04-15`, `systemd 252 (252.38-1)`: a title with another name.
pub(super) fn first_line(_: &Reading<'_>, candidate: &Candidate<'_>) -> Option<Range<usize>> {
    if !candidate.first || !begins_title(candidate) || RUNTIME_LINES.find(candidate.line).is_some()
    {
        return None;
    }
    // `info: kotlinc-jvm 1.3.31`
    let level = if candidate.line.lower.starts_with(LOG_LEVEL) { LOG_LEVEL.len() } else { 0 };
    let whole = &candidate.masked.text;
    let text = &whole[level..];
    let name = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    let range = match name {
        0 => best_token(text),
        _ => directly_after(&text[name..])
            .map(|range| name + range.start..name + range.end)
            .or_else(|| best_token(text)),
    }?;
    let before = &text[..range.start];
    let token = &text[range.clone()];
    let after = text[range.end..].trim_start();
    // `Files 12` is a count.
    let counts = is_integer(token) && !after.starts_with('(');
    let title = !before.contains(": ") && !before.contains(['=', '\'', '"', '`', '<', '|']);
    let right = title && !counts && !is_measure(token) && words(before) <= MOST_WORDS;
    right.then_some(level + range.start..level + range.end)
}

/// `1.234s`, `3.5MB`
fn is_measure(token: &str) -> bool {
    const UNITS: &[&str] = &["s", "ms", "us", "kb", "mb", "gb", "kib", "mib", "gib"];
    let unit = token.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    UNITS.contains(&unit.to_ascii_lowercase().as_str())
}

/// Before a title, where a program prints it through its log.
const LOG_LEVEL: &str = "info: ";

/// Words that begin a complaint or a measurement, not a title.
const NO_TITLE: &[&str] = &[
    "error",
    "warning",
    "warn",
    "elapsed",
    "total",
    "time",
    "took",
    "real",
    "size",
    "fatal",
    "cannot",
    "can't",
    "could",
    "failed",
    "unable",
    "unknown",
    "invalid",
    "no",
    "not",
    "missing",
    "illegal",
    "bad",
    "unrecognized",
    "please",
    "you",
    "the",
    "this",
    "usage",
    "caution",
    "note",
    "found",
    "checking",
    "loading",
    "starting",
    "running",
    "listening",
    "reading",
    "please",
    "hint",
    "info",
    "debug",
];

fn begins_title(candidate: &Candidate<'_>) -> bool {
    let letters = |c: char| !c.is_ascii_alphanumeric() && c != '\'';
    let line = candidate.line.lower.strip_prefix(LOG_LEVEL).unwrap_or(&candidate.line.lower);
    let first = line.split(letters).find(|word| !word.is_empty()).unwrap_or("");
    !NO_TITLE.contains(&first)
}

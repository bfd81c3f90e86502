//! The version in a first line that is the title of a program, under whatever name: the last resort of the
//! search. Complaints, measurements and counts begin like titles and are none.

use super::prepared_observation::Reading;
use super::version_masks::RUNTIME_LINES;
use super::version_output::{Candidate, MOST_WORDS, best_token, directly_after, words};
use crate::version_token::is_integer;
use std::ops::Range;

/// `openjdk 17.0.15 2025-04-15`, `systemd 252 (252.38-1)`: a title with another name.
pub(super) fn first_line(reading: &Reading<'_>, candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let synopsis = reading.names.begins_synopsis(&candidate.line.lower);
    let runtime = RUNTIME_LINES.find(candidate.line).is_some();
    if !candidate.first || !begins_title(candidate) || synopsis || runtime {
        return None;
    }
    // `info: kotlinc-jvm 1.3.31`
    let level = if candidate.line.lower.starts_with(LOG_LEVEL) { LOG_LEVEL.len() } else { 0 };
    let text = &candidate.masked.text[level..];
    let name = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    let range = match name {
        0 => best_token(text),
        _ => directly_after(&text[name..])
            .map(|range| name + range.start..name + range.end)
            .or_else(|| best_token(text)),
    }?;
    let line = &candidate.line.text[level..];
    let before = &line[..range.start];
    let title = !before.contains(": ") && !before.contains(['=', '\'', '"', '`', '<', '|']);
    let right = title && !is_measure(line, &range) && words(before) <= MOST_WORDS;
    right.then_some(level + range.start..level + range.end)
}

/// `Files 12`, `Score 9.81`, `took 1.234s`, `read 3.5 MB`: a number that is no version of another name.
fn is_measure(line: &str, range: &Range<usize>) -> bool {
    const UNITS: &[&str] = &[
        "s", "ms", "us", "sec", "seconds", "b", "bytes", "kb", "mb", "gb", "kib", "mib", "gib", "%",
    ];
    let token = &line[range.clone()];
    let after = line[range.end..].trim_start();
    let glued = token.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let next = after.split_whitespace().next().unwrap_or("");
    let unit = [glued, next].iter().any(|word| UNITS.contains(&word.to_ascii_lowercase().as_str()));
    let decimal = glued.is_empty() && token.matches('.').count() == 1;
    let label = after.is_empty() && is_label(&line[..range.start]);
    unit || (decimal && label) || (is_integer(token) && !after.starts_with('('))
}

/// One word with a capital, as measurements have it: programs that print a name and a number alone print
/// their file's name.
fn is_label(before: &str) -> bool {
    let word = before.trim_end();
    let small = |c: char| c.is_ascii_lowercase();
    word.len() < before.len()
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.len() > 1
        && word[1..].chars().all(small)
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

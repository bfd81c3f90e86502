//! Step 4: the tool printed its help, with whatever exit code. A usage line counts when the tool is named
//! in the text; without one, synopsis lines or sections with options do. The line as far as its first
//! bracket is what a stored check looks for.

use super::line_table::words;
use super::reading::Reading;
use crate::printed_text::Line;
use crate::verdict::{EvidenceKind, Judgement, Verdict};

const USAGE_WORDS: &[&str] = &["usage", "synopsis", "syntax"];

/// How many options or commands a section must list.
const LISTED: usize = 3;
/// How many options must be listed beside a line that is a synopsis.
const LISTED_BELOW: usize = 2;
const SYNOPSES: usize = 2;

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    if reading.is_uncaught {
        return None;
    }
    let lines: Vec<&Line> = reading.own_lines().collect();
    let found = usage(reading, &lines);
    let found = found.or_else(|| synopses(reading, &lines)).or_else(|| sections(&lines));
    let (kind, line, pattern) = found?;
    Some(Judgement { pattern, ..Judgement::new(Verdict::WorksByHelp, line.evidence(kind)) })
}

type Help<'l> = (EvidenceKind, &'l Line, Option<String>);

fn usage<'l>(reading: &Reading<'_>, lines: &[&'l Line]) -> Option<Help<'l>> {
    let at = lines.iter().position(|line| is_usage(reading, line))?;
    if !lines.iter().any(|line| reading.names.is_in(&line.lower)) {
        return None;
    }
    // "Usage:" alone: the synopsis is on the next line.
    let next = lines.get(at + 1).copied();
    let alone = lines[at].lower.trim().trim_end_matches([':', ' ']).len() <= "synopsis".len();
    let line = next.filter(|_| alone).unwrap_or(lines[at]);
    let found = pattern(reading, line).or_else(|| pattern(reading, lines[at]));
    Some((EvidenceKind::UsageLine, line, found))
}

/// A line that begins with the word and a colon, or with the word and something like a synopsis. "Usage of
/// this is not supported" and "See x --help for usage" are no help text.
fn is_usage(reading: &Reading<'_>, line: &Line) -> bool {
    let text = line.lower.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/');
    // `tool: usage: tool …`
    let text = match text.split_once(": ") {
        Some((before, after)) if !before.contains(' ') && !USAGE_WORDS.contains(&before) => {
            after.trim_start()
        }
        _ => text,
    };
    // `tool usage: [options]`
    let text = match text.split_once(' ') {
        Some((before, after)) if after.starts_with("usage:") && reading.names.is_in(before) => {
            after
        }
        _ => text,
    };
    let rest = USAGE_WORDS.iter().find_map(|word| text.strip_prefix(word));
    let Some(rest) = rest.filter(|rest| !rest.starts_with(char::is_alphanumeric)) else {
        return false;
    };
    let rest = rest.trim_start();
    if rest.trim_start_matches([':', ' ', '\t']).starts_with("see ") {
        return false;
    }
    let rest = rest.strip_prefix("is").filter(|r| r.starts_with([':', ' '])).unwrap_or(rest);
    let of_name = rest.strip_prefix("of ").is_some_and(|rest| rest.trim_end().ends_with(':'));
    let synopsis = rest.contains(['[', '<']) || rest.starts_with('-');
    rest.trim().is_empty()
        || rest.trim_start().starts_with(':')
        || of_name
        || (synopsis && reading.names.is_in(rest))
}

fn synopses<'l>(reading: &Reading<'_>, lines: &[&'l Line]) -> Option<Help<'l>> {
    let mut synopses = lines.iter().filter(|line| reading.names.begins_synopsis(&line.lower));
    let first = *synopses.next()?;
    // One line is enough when it lists several options, or when a list of them is below or above.
    let bracket = first.text.find(['[', '<', '{']);
    let words = bracket.map_or(0, |at| first.text[..at].split_whitespace().count());
    let explained = || lines.iter().any(|line| is_section(line)) || listed(lines) >= LISTED_BELOW;
    let enough = first.text.matches("[-").count() >= SYNOPSES
        || synopses.next().is_some()
        || (words == 1 && explained());
    enough.then(|| (EvidenceKind::SynopsisLines, first, pattern(reading, first)))
}

fn sections<'l>(lines: &[&'l Line]) -> Option<Help<'l>> {
    let line = *lines.iter().find(|line| is_section(line))?;
    let pattern = Some(line.text.trim().to_owned());
    (listed(lines) >= LISTED).then_some((EvidenceKind::HelpSections, line, pattern))
}

fn is_section(line: &Line) -> bool {
    let text = line.lower.trim();
    let title = text.strip_suffix(':').unwrap_or(text);
    words("help-section").contains(&title)
        && (text.ends_with(':') || line.text.trim() == line.text.trim().to_uppercase())
}

/// How many lines describe an option: `  -q, --quiet   be quiet`.
fn listed(lines: &[&Line]) -> usize {
    let is_option = |line: &&&Line| {
        let text = line.text.trim_start().trim_start_matches("* ");
        let option = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
        option.is_some_and(|o| o.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '?'))
    };
    lines.iter().filter(is_option).count()
}

/// The line as far as its first bracket.
fn pattern(reading: &Reading<'_>, line: &Line) -> Option<String> {
    let usage = line.lower.find("usage").filter(|at| line.lower[..*at].ends_with(": "));
    let text = line.text[usage.unwrap_or(0)..].trim();
    let lower = text.to_ascii_lowercase();
    let bracket = text.find(['[', '<', '{', '|']).unwrap_or(text.len());
    let name = reading.names.word_in(&lower).or_else(|| reading.names.part_in(&lower));
    let end = name.filter(|name| name.end <= bracket).map_or(text.len(), |_| bracket);
    reading.pattern_of_line(&text[..end])
}

//! All there is about failures that fit a pattern: when, with which commands and errors, and what was
//! run instead.

use super::failure_path::what;
use super::failure_query::{Times, called, error_line, recorded};
use super::{Learning, suggest};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use towpath_store::ToolCallRow;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    schema: u8,
    pub pattern: String,
    pub count: usize,
    pub sessions: usize,
    #[serde(rename = "first")]
    first_time: String,
    #[serde(rename = "last")]
    last_time: String,
    #[serde(skip)]
    pub first_ms: i64,
    #[serde(skip)]
    pub last_ms: i64,
    /// By day, `2026-01-31`, the oldest first.
    pub days: Vec<Counted>,
    /// The most frequent first.
    pub commands: Vec<Counted>,
    pub errors: Vec<Counted>,
    /// The calls of sessions after such a mistake, as the rule that it leads to.
    pub instead: Vec<String>,
}

/// How often something occurs; `name` is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    pub name: &'static str,
    pub text: String,
    pub count: usize,
}

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(self.name, &self.text)?;
        map.serialize_entry("count", &self.count)?;
        map.end()
    }
}

impl Counted {
    /// Each text with how often it occurs, in the order of the texts.
    pub fn each(name: &'static str, texts: impl Iterator<Item = String>) -> Vec<Counted> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        texts.for_each(|text| *counts.entry(text).or_default() += 1);
        counts.into_iter().map(|(text, count)| Counted { name, text, count }).collect()
    }

    /// The most frequent, first.
    pub fn most(
        name: &'static str,
        texts: impl Iterator<Item = String>,
        top: usize,
    ) -> Vec<Counted> {
        let mut counts = Counted::each(name, texts);
        counts.sort_by_key(|counted| std::cmp::Reverse(counted.count));
        counts.truncate(top);
        counts
    }
}

/// The failures of all calls, newest first, that fit: by a mistake, a program, a tool or a command.
/// `%` is any text; without it a part of the text is enough.
pub fn inspect(
    calls: &[ToolCallRow],
    pattern: &str,
    top: usize,
    time: Times<'_>,
) -> Option<Inspection> {
    let fits = |row: &&ToolCallRow| {
        let mistake = recorded(row).mistake().map(|mistake| mistake.to_string());
        let texts = [Some(what(row)), Some(row.tool.clone()), Some(called(row)), mistake];
        texts.iter().flatten().any(|text| is_like(text, pattern))
    };
    let rows: Vec<&ToolCallRow> = calls.iter().filter(|row| row.failed).filter(fits).collect();
    let (newest, oldest) = (rows.first()?, rows.last()?);
    let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.host, &row.session)).collect();
    let day = |row: &&ToolCallRow| time(row.at_ms).split('T').next().unwrap_or_default().to_owned();
    let texts = |text: &dyn Fn(&ToolCallRow) -> String| {
        let texts: Vec<String> = rows.iter().map(|row| text(row)).collect();
        texts.into_iter().filter(|text| !text.is_empty())
    };
    Some(Inspection {
        schema: 1,
        pattern: pattern.to_owned(),
        count: rows.len(),
        sessions: sessions.len(),
        first_time: time(oldest.at_ms),
        last_time: time(newest.at_ms),
        first_ms: oldest.at_ms,
        last_ms: newest.at_ms,
        days: Counted::each("day", rows.iter().map(day)),
        commands: Counted::most("command", texts(&called), top),
        errors: Counted::most("error", texts(&error_line), top),
        instead: instead(calls, &rows),
    })
}

/// The calls of the rows' sessions after the mistakes among them.
fn instead(calls: &[ToolCallRow], rows: &[&ToolCallRow]) -> Vec<String> {
    let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.host, &row.session)).collect();
    let theirs = calls.iter().filter(|call| sessions.contains(&(&call.host, &call.session)));
    let recorded_calls: Vec<_> = theirs.map(recorded).collect();
    let mistakes: Vec<_> = rows.iter().filter_map(|row| recorded(row).mistake()).collect();
    let learning = Learning { calls: &recorded_calls, rules: &[], dismissed: &[], occurrences: 1 };
    let proposals = suggest(&learning).proposals.into_iter();
    let own = proposals.filter(|proposal| mistakes.contains(&proposal.evidence.mistake));
    own.filter_map(|proposal| proposal.back_test.examples.into_iter().next()?.after).collect()
}

/// As SQL's `LIKE` without regard to case; a pattern without `%` is a part of the text.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.to_lowercase(), pattern.to_lowercase());
    if pattern.contains('%') { matches(&text, &pattern) } else { text.contains(&pattern) }
}

/// Whether a text is like a pattern, whose `%` is any text, as in SQL.
pub fn matches(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('%');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{is_like, matches};

    #[test]
    fn a_percent_sign_is_any_text() {
        for (pattern, fits) in [
            ("git", true),
            ("GIT comit", true),
            ("git%", true),
            ("%comit", true),
            ("g%c%t", true),
            ("comit%", false),
            ("%git", false),
            ("%", true),
        ] {
            assert_eq!(is_like("git comit", pattern), fits, "{pattern}");
        }
        assert!(!is_like("aba", "ab%ba"));
    }

    #[test]
    fn without_a_percent_sign_the_whole_text_matches() {
        for (pattern, is) in [
            ("read_file", true),
            ("read", false),
            ("read%", true),
            ("%file", true),
            ("%", true),
            ("r%d%f%e", true),
            ("%x%", false),
            ("read_file%", true),
            ("", false),
        ] {
            assert_eq!(matches("read_file", pattern), is, "{pattern}");
        }
    }
}

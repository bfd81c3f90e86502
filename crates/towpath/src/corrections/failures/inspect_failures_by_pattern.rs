//! All there is about failures that fit a pattern: when, with which commands and errors, and what was
//! run instead.

use super::grouped_by_mistake::what;
use super::{called, error_line, recorded};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use towpath_corrections::failure::{Learning, suggest};
use towpath_store::ToolCallRow;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inspection {
    pub count: usize,
    pub sessions: usize,
    pub first_ms: i64,
    pub last_ms: i64,
    /// By day, `2026-01-31`, the oldest first.
    pub days: Vec<(String, usize)>,
    /// The most frequent first.
    pub commands: Vec<(String, usize)>,
    pub errors: Vec<(String, usize)>,
    /// What sessions ran after such a mistake, as the rule that it leads to.
    pub instead: Vec<String>,
}

/// The failures of all calls, newest first, that fit: by a mistake, a program, a tool or a command.
/// `%` is any text; without it a part of the text is enough.
pub fn inspect(calls: &[ToolCallRow], pattern: &str, top: usize) -> Option<Inspection> {
    let fits = |row: &&ToolCallRow| {
        let mistake = recorded(row).mistake().map(|mistake| mistake.to_string());
        let texts = [Some(what(row)), Some(row.tool.clone()), Some(called(row)), mistake];
        texts.iter().flatten().any(|text| is_like(text, pattern))
    };
    let rows: Vec<&ToolCallRow> = calls.iter().filter(|row| row.failed).filter(fits).collect();
    let (newest, oldest) = (rows.first()?, rows.last()?);
    let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.host, &row.session)).collect();
    let mut days: BTreeMap<String, usize> = BTreeMap::new();
    for row in &rows {
        let day = crate::terminal::format::rfc3339(row.at_ms);
        *days.entry(day.split('T').next().unwrap_or_default().to_owned()).or_default() += 1;
    }
    Some(Inspection {
        count: rows.len(),
        sessions: sessions.len(),
        first_ms: oldest.at_ms,
        last_ms: newest.at_ms,
        days: days.into_iter().collect(),
        commands: most_frequent(rows.iter().map(|row| called(row)), top),
        errors: most_frequent(rows.iter().map(|row| error_line(row)), top),
        instead: instead(calls, &rows),
    })
}

/// What the sessions of the rows ran after the mistakes among them.
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

fn most_frequent(texts: impl Iterator<Item = String>, top: usize) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts.filter(|text| !text.is_empty()) {
        *counts.entry(text).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(top);
    counts
}

/// As SQL's `LIKE`, without regard to case.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.to_lowercase(), pattern.to_lowercase());
    if !pattern.contains('%') {
        return text.contains(&pattern);
    }
    let pieces: Vec<&str> = pattern.split('%').collect();
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return false };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for piece in &pieces[1..pieces.len() - 1] {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

pub fn inspection_json(pattern: &str, found: &Inspection) -> Value {
    let counted = |counts: &[(String, usize)], name: &str| -> Vec<Value> {
        counts.iter().map(|(text, count)| json!({ name: text, "count": count })).collect()
    };
    json!({
        "schema": 1,
        "pattern": pattern,
        "count": found.count,
        "sessions": found.sessions,
        "first": crate::terminal::format::rfc3339(found.first_ms),
        "last": crate::terminal::format::rfc3339(found.last_ms),
        "days": counted(&found.days, "day"),
        "commands": counted(&found.commands, "command"),
        "errors": counted(&found.errors, "error"),
        "instead": found.instead,
    })
}

#[cfg(test)]
mod tests {
    use super::is_like;

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
}

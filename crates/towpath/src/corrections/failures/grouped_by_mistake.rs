//! Failures by what they have in common: the mistake, or else the program with its subcommand.

use super::{called, error_line, recorded};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use towpath_corrections::failure::Mistake;
use towpath_store::ToolCallRow;

/// Failures that have something in common.
#[derive(Debug, Clone, PartialEq)]
pub struct FailurePath {
    pub what: String,
    /// None where the command was right and failed for another reason.
    pub mistake: Option<Mistake>,
    pub count: usize,
    pub sessions: usize,
    pub hosts: Vec<String>,
    pub first_ms: i64,
    pub last_ms: i64,
    /// The newest of them.
    pub example: String,
    pub error: String,
}

/// The most frequent first. The rows are the newest first.
pub fn paths(rows: &[ToolCallRow]) -> Vec<FailurePath> {
    let mut groups: BTreeMap<(String, Option<Mistake>), Vec<&ToolCallRow>> = BTreeMap::new();
    for row in rows {
        let mistake = recorded(row).mistake();
        let what = mistake.as_ref().map_or_else(|| what(row), Mistake::to_string);
        groups.entry((what, mistake)).or_default().push(row);
    }
    let path = |((what, mistake), rows): ((String, Option<Mistake>), Vec<&ToolCallRow>)| {
        let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.host, &row.session)).collect();
        let hosts: BTreeSet<&String> = rows.iter().map(|row| &row.host).collect();
        FailurePath {
            what,
            mistake,
            count: rows.len(),
            sessions: sessions.len(),
            hosts: hosts.into_iter().cloned().collect(),
            first_ms: rows.last().map_or(0, |row| row.at_ms),
            last_ms: rows.first().map_or(0, |row| row.at_ms),
            example: rows.first().map_or(String::new(), |row| called(row)),
            error: rows.first().map_or(String::new(), |row| error_line(row)),
        }
    };
    let mut paths: Vec<FailurePath> = groups.into_iter().map(path).collect();
    paths.sort_by_key(|path| std::cmp::Reverse((path.count, path.last_ms)));
    paths
}

/// What failed, where it is no mistake.
pub fn what(row: &ToolCallRow) -> String {
    match (&row.program, &row.subcommand) {
        (Some(program), Some(subcommand)) => format!("{program} {subcommand}"),
        (Some(program), None) => program.clone(),
        (None, _) => row.tool.clone(),
    }
}

pub fn path_json(path: &FailurePath) -> Value {
    json!({
        "what": path.what,
        "mistake": path.mistake,
        "count": path.count,
        "sessions": path.sessions,
        "hosts": path.hosts,
        "first": crate::terminal::format::rfc3339(path.first_ms),
        "last": crate::terminal::format::rfc3339(path.last_ms),
        "example": path.example,
        "error": path.error,
    })
}

//! Failures by what they have in common: the mistake, or else the program with its subcommand.

use super::Mistake;
use super::failure_query::{Times, called, error_line, recorded};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use towpath_store::ToolCallRow;

/// Failures that have something in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailurePath {
    pub what: String,
    /// None where the command was right and failed for another reason.
    pub mistake: Option<Mistake>,
    pub count: usize,
    pub sessions: usize,
    pub hosts: Vec<String>,
    pub first: String,
    pub last: String,
    #[serde(skip)]
    pub last_ms: i64,
    /// The newest of them.
    pub example: String,
    pub error: String,
}

/// The most frequent first. The rows are the newest first.
pub fn paths(rows: &[ToolCallRow], time: Times<'_>) -> Vec<FailurePath> {
    let mut groups: BTreeMap<(String, Option<Mistake>), Vec<&ToolCallRow>> = BTreeMap::new();
    for row in rows {
        let mistake = recorded(row).mistake();
        let what = mistake.as_ref().map_or_else(|| what(row), Mistake::to_string);
        groups.entry((what, mistake)).or_default().push(row);
    }
    let path = |((what, mistake), rows): ((String, Option<Mistake>), Vec<&ToolCallRow>)| {
        let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.host, &row.session)).collect();
        let hosts: BTreeSet<&String> = rows.iter().map(|row| &row.host).collect();
        let last_ms = rows.first().map_or(0, |row| row.at_ms);
        FailurePath {
            what,
            mistake,
            count: rows.len(),
            sessions: sessions.len(),
            hosts: hosts.into_iter().cloned().collect(),
            first: time(rows.last().map_or(0, |row| row.at_ms)),
            last: time(last_ms),
            last_ms,
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

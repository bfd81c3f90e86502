//! How much was recorded, how much of it failed, and how much of that was a mistake.

use super::FailureQuery;
use super::grouped_by_mistake::{FailurePath, paths};
use crate::exit_codes_and_errors::CommandError;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use towpath_store::{Store, ToolCallRow};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct FailureStats {
    pub calls: usize,
    pub failed: usize,
    pub mistakes: usize,
    pub sessions: usize,
    pub first_ms: Option<i64>,
    pub last_ms: Option<i64>,
    /// By host: calls, and those that failed.
    pub hosts: Vec<(String, usize, usize)>,
    /// Those that failed most often.
    pub top: Vec<FailurePath>,
}

pub fn stats(
    query: &FailureQuery,
    store: Option<&Store>,
    top: usize,
) -> Result<FailureStats, CommandError> {
    let rows = query.calls(store)?;
    let (failed, _): (Vec<ToolCallRow>, Vec<ToolCallRow>) =
        rows.iter().cloned().partition(|row| row.failed);
    let mut hosts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for row in &rows {
        let (calls, failures) = hosts.entry(&row.host).or_default();
        *calls += 1;
        *failures += usize::from(row.failed);
    }
    let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.host, &row.session)).collect();
    let mut paths = paths(&failed);
    let mistaken = paths.iter().filter(|path| path.mistake.is_some());
    let mistakes = mistaken.map(|path| path.count).sum();
    paths.truncate(top);
    Ok(FailureStats {
        calls: rows.len(),
        failed: failed.len(),
        mistakes,
        sessions: sessions.len(),
        first_ms: rows.last().map(|row| row.at_ms),
        last_ms: rows.first().map(|row| row.at_ms),
        hosts: hosts.into_iter().map(|(host, (c, f))| (host.to_owned(), c, f)).collect(),
        top: paths,
    })
}

pub fn stats_json(stats: &FailureStats) -> Value {
    let time = |ms: Option<i64>| ms.map(crate::terminal::format::rfc3339);
    let host = |(host, calls, failed): &(String, usize, usize)| json!({ "host": host, "calls": calls, "failed": failed });
    json!({
        "schema": 1,
        "calls": stats.calls,
        "failed": stats.failed,
        "mistakes": stats.mistakes,
        "sessions": stats.sessions,
        "first": time(stats.first_ms),
        "last": time(stats.last_ms),
        "hosts": stats.hosts.iter().map(host).collect::<Vec<_>>(),
        "top": stats.top.iter().map(super::grouped_by_mistake::path_json).collect::<Vec<_>>(),
    })
}

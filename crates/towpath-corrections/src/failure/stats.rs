//! How much was recorded, how much of it failed, and how much of that was a mistake.

use super::failure_path::{FailurePath, paths};
use super::failure_query::{FailureQuery, Times};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use towpath_store::{Store, StoreError, ToolCallRow};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailureStats {
    schema: u8,
    pub calls: usize,
    pub failed: usize,
    pub mistakes: usize,
    pub sessions: usize,
    first: Option<String>,
    last: Option<String>,
    /// The times of the first and the last call.
    #[serde(skip)]
    pub span_ms: Option<(i64, i64)>,
    pub hosts: Vec<HostCalls>,
    /// Those that failed most often.
    pub top: Vec<FailurePath>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostCalls {
    pub host: String,
    pub calls: usize,
    pub failed: usize,
}

pub fn stats(
    query: &FailureQuery,
    store: Option<&Store>,
    top: usize,
    time: Times<'_>,
) -> Result<FailureStats, StoreError> {
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
    let mut paths = paths(&failed, time);
    let span_ms = rows.last().map(|row| row.at_ms).zip(rows.first().map(|row| row.at_ms));
    let mistaken = paths.iter().filter(|path| path.mistake.is_some());
    let mistakes = mistaken.map(|path| path.count).sum();
    paths.truncate(top);
    Ok(FailureStats {
        schema: 1,
        calls: rows.len(),
        failed: failed.len(),
        mistakes,
        sessions: sessions.len(),
        first: span_ms.map(|(first, _)| time(first)),
        last: span_ms.map(|(_, last)| time(last)),
        span_ms,
        hosts: hosts
            .into_iter()
            .map(|(host, (calls, failed))| HostCalls { host: host.to_owned(), calls, failed })
            .collect(),
        top: paths,
    })
}

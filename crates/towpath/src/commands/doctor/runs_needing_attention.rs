//! Runs that need the user: those that ask, that wait, that were interrupted, and the orphan
//! processes of a dead runner. Active runs are left alone.

use super::finding::Finding;
use crate::exit::CommandError;
use crate::session::run_status::status_of;
use crate::session::waiting;
use crate::terminal::format::{ago, clean, count, local_time, now_ms};
use towpath_core::{FaultKind, RunId, RunStatus, StatusKind};
use towpath_engine::{is_owned, owner_of};
use towpath_process::{marked, marked_runs};
use towpath_store::{RunFilter, RunRow, Store};

/// More runs of one kind than this are only counted.
const MOST: usize = 5;

pub fn check(store: &Store) -> Result<Vec<Finding>, CommandError> {
    let rows = store.runs(&RunFilter::default())?;
    let mut findings = orphan_processes(store, &rows);
    let kinds: [(StatusKind, Describe); 3] = [
        (StatusKind::Asking, asking),
        (StatusKind::Waiting, waiting),
        (StatusKind::Interrupted, interrupted),
    ];
    for (status, describe) in kinds {
        let of: Vec<&RunRow> = rows.iter().filter(|row| status_of(store, row).is(status)).collect();
        findings.extend(of.iter().take(MOST).map(|row| describe(store, row)));
        if of.len() > MOST {
            let more = count(of.len() - MOST, "more run");
            let fix = format!("towpath runs --all --status {status}");
            findings.push(Finding::attention(status.as_str(), format!("and {more}"), fix));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("runs", "none needs your attention"));
    }
    Ok(findings)
}

type Describe = fn(&Store, &RunRow) -> Finding;

fn orphan_processes(store: &Store, rows: &[RunRow]) -> Vec<Finding> {
    let ids = marked_runs().into_iter().filter_map(|id| RunId::new(&id));
    // Other journals have runs of their own; those of this one are known by their rows.
    let ours = ids.filter(|id| rows.iter().any(|row| row.id == *id) && !is_owned(store, id));
    let mut findings = Vec::new();
    for id in ours {
        let left = marked(id.as_str());
        let names: Vec<String> =
            left.iter().take(MOST).map(|l| format!("{} ({})", clean(&l.command), l.pid)).collect();
        if !names.is_empty() {
            let text = format!("the runner of run {id} died and left {}", names.join(", "));
            findings.push(Finding::broken("processes", text, format!("towpath cancel {id}")));
        }
    }
    findings
}

fn asking(_: &Store, row: &RunRow) -> Finding {
    let (id, step) = (&row.id, clean(&row.summary.status.location()));
    let text = format!("{} (run {id}) asks whether {step} did its work", clean(&row.recipe));
    Finding::attention("asking", text, format!("towpath show {id}"))
}

fn waiting(store: &Store, row: &RunRow) -> Finding {
    let (id, name, now) = (&row.id, clean(&row.recipe), now_ms());
    let what = match &row.summary.status {
        RunStatus::Waiting { why: FaultKind::Limit, until_ms: Some(until) } => {
            format!("for a rate limit until {}", local_time(*until, now))
        }
        RunStatus::Waiting { why: FaultKind::Limit, until_ms: None } => {
            "for a rate limit without a known end".to_owned()
        }
        status => {
            let until = local_time(status.waits_until().unwrap_or(now), now);
            format!("(agent: {}), next try at {until}", status.waits_for())
        }
    };
    let text = format!("{name} (run {id}) waits {what}");
    if let Some(holder) = owner_of(store, id) {
        return Finding::ok("waiting", format!("{text}; {holder} will continue it"));
    }
    let over = waiting::due(row, 0) <= now;
    let fix = if over {
        "towpath resume --due".to_owned()
    } else {
        format!("towpath resume {id} --wait")
    };
    Finding::attention("waiting", text, fix)
}

fn interrupted(_: &Store, row: &RunRow) -> Finding {
    let (id, name) = (&row.id, clean(&row.recipe));
    let started = ago(row.created_ms, now_ms());
    let text = format!("{name} (run {id}), started {started}, was interrupted");
    Finding::attention("interrupted", text, format!("towpath resume {id}"))
}

//! `towpath runs prune`: deletes runs that have ended. A run that is active, waits, asks or was
//! interrupted is never touched, whatever its age: its user may still want to resume it.

use super::status_of;
use crate::duration_arguments::milliseconds;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{ago, bytes, count, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};
use serde_json::json;
use towpath_core::{RunStatus, StatusKind};
use towpath_engine::{EngineError, is_owned, lock_run};
use towpath_store::{Reclaimed, RunFilter, RunRow, Store};

/// Delete old runs of all directories, with their output.
///
/// Deletes runs that are done, failed, stopped or cancelled; runs that are running, waiting, asking
/// or interrupted are kept. With --keep alone, age does not matter; with both options, a run must be
/// old enough and not among the newest.
///
/// Example: towpath runs prune --older-than 2w --dry-run
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Delete runs that ended longer ago than this: 90m, 12h, 30d, 2w [default without --keep: 30d]
    #[arg(long, value_name = "AGE", value_parser = milliseconds)]
    pub older_than: Option<i64>,
    /// Keep the N newest ended runs.
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Show what would be deleted, and delete nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

const DEFAULT_AGE_MS: i64 = 30 * 86_400_000;

pub fn execute(args: &Args, env: &Environment) -> Result<Exit, CommandError> {
    let Some(store) = env.journal()? else {
        return report(args, env, &Pruned::default());
    };
    let pruned = if args.dry_run {
        look(&store, args)?
    } else {
        drop(store);
        prune(&mut Store::open(&env.directories.state)?, args)?
    };
    report(args, env, &pruned)
}

#[derive(Default)]
struct Pruned {
    /// Each with its size.
    runs: Vec<(RunRow, u64)>,
    /// Left by an interrupted deletion.
    swept: u64,
    space: Reclaimed,
    /// How many interrupted runs are old enough, and stay.
    interrupted: usize,
}

/// Whether a run has ended for good.
fn is_over(status: &RunStatus) -> bool {
    use RunStatus::{Cancelled, Done, Failed, Stopped};
    matches!(status, Done | Failed { .. } | Stopped | Cancelled)
}

/// The ended runs that may go, the newest first.
fn chosen(store: &Store, args: &Args, now: i64) -> Result<Vec<RunRow>, CommandError> {
    let mut rows = store.runs(&RunFilter::default())?;
    rows.retain(|row| is_over(&row.summary.status));
    // A run that was resumed is as new as its end.
    rows.sort_by_key(|row| std::cmp::Reverse(ended(row)));
    let kept = args.keep.unwrap_or(0).min(rows.len());
    let mut rows = rows.split_off(kept);
    let youngest = now.saturating_sub(least_age(args));
    rows.retain(|row| ended(row) <= youngest);
    Ok(rows)
}

fn least_age(args: &Args) -> i64 {
    args.older_than.unwrap_or(if args.keep.is_some() { 0 } else { DEFAULT_AGE_MS })
}

fn ended(row: &RunRow) -> i64 {
    row.summary.ended_ms.unwrap_or(row.created_ms)
}

fn look(store: &Store, args: &Args) -> Result<Pruned, CommandError> {
    let now = now_ms();
    let mut runs = Vec::new();
    for row in chosen(store, args, now)? {
        let size = store.run_bytes(&row.id)?;
        runs.push((row, size));
    }
    let interrupted = interrupted(store, args, now)?;
    Ok(Pruned { runs, interrupted, ..Pruned::default() })
}

fn prune(store: &mut Store, args: &Args) -> Result<Pruned, CommandError> {
    let now = now_ms();
    let mut pruned = Pruned { swept: store.sweep_deleted()?, ..Pruned::default() };
    for row in chosen(store, args, now)? {
        let _lock = match lock_run(store, &row.id) {
            Ok(lock) => lock,
            // Another process has resumed it.
            Err(EngineError::Owned { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        // It may have been resumed, and have ended again, before we locked it.
        if store.run(&row.id)?.is_none_or(|found| found.summary != row.summary) {
            continue;
        }
        let size = store.run_bytes(&row.id)?;
        store.delete_run(&row.id)?;
        pruned.runs.push((row, size));
    }
    let busy = store.runs(&RunFilter::default())?.iter().any(|row| is_owned(store, &row.id));
    pruned.space = match busy {
        true => Reclaimed { returned: 0, kept: store.pages()?.0 },
        false => store.reclaim()?,
    };
    pruned.interrupted = interrupted(store, args, now)?;
    Ok(pruned)
}

fn interrupted(store: &Store, args: &Args, now: i64) -> Result<usize, CommandError> {
    let old = |row: &&RunRow| row.created_ms <= now.saturating_sub(least_age(args));
    let rows =
        store.runs(&RunFilter { status: Some(StatusKind::Running), ..RunFilter::default() })?;
    Ok(rows
        .iter()
        .filter(old)
        .filter(|row| status_of(store, row) == RunStatus::Interrupted)
        .count())
}

fn report(args: &Args, env: &Environment, pruned: &Pruned) -> Result<Exit, CommandError> {
    let total = pruned.runs.iter().map(|(_, size)| size).sum::<u64>() + pruned.swept;
    if args.json {
        let each = |(row, size): &(RunRow, u64)| {
            json!({
                "run_id": row.id.as_str(),
                "recipe_name": row.recipe,
                "status": row.summary.status.as_str(),
                "ended": rfc3339(ended(row)),
                "bytes": size,
            })
        };
        out::json(&json!({
            "schema": 1,
            "dry_run": args.dry_run,
            "runs": pruned.runs.iter().map(each).collect::<Vec<_>>(),
            "bytes": total,
            "database": { "returned": pruned.space.returned, "kept": pruned.space.kept },
        }));
        return Ok(Exit::Done);
    }
    if args.dry_run {
        list(env, &pruned.runs);
    }
    let runs = count(pruned.runs.len(), "run");
    out::line(match (pruned.runs.len(), args.dry_run) {
        (0, true) => "nothing to delete".to_owned(),
        (0, false) if pruned.swept > 0 => {
            format!("freed {}, left by an interrupted deletion", bytes(pruned.swept))
        }
        (0, false) => "nothing to delete".to_owned(),
        (_, true) => format!("would delete {runs}, {}; nothing was deleted", bytes(total)),
        (_, false) => format!("deleted {runs}, {}{}", bytes(total), kept(pruned.space)),
    });
    if pruned.interrupted > 0 {
        let runs = count(pruned.interrupted, "run");
        let were = if pruned.interrupted == 1 { "was" } else { "were" };
        out::note(format!(
            "{runs} {were} interrupted and kept: towpath runs --all --status interrupted; to cancel \
             one: towpath cancel RUN"
        ));
    }
    Ok(Exit::Done)
}

/// Space inside the database is mentioned only where it is not returned to the disk.
fn kept(space: Reclaimed) -> String {
    const WORTH: u64 = 1_000_000;
    match space.kept {
        WORTH.. => format!(", of which the journal keeps {} for later runs", bytes(space.kept)),
        _ => String::new(),
    }
}

fn list(env: &Environment, runs: &[(RunRow, u64)]) {
    if runs.is_empty() {
        return;
    }
    let now = now_ms();
    let mut table = Table::new(&["RUN", "RECIPE", "STATUS", "ENDED", "SIZE"]);
    for (row, size) in runs {
        let status = &row.summary.status;
        table.row(vec![
            row.id.as_str().into(),
            (&row.recipe).into(),
            Cell::tinted(status.as_str(), super::tint(status)),
            ago(ended(row), now).into(),
            bytes(*size).into(),
        ]);
    }
    table.print(&Screen::new(env));
}

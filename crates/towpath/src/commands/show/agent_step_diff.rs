//! `towpath show --diff [STEP]`: what an agent step changed, or all of a run. Before the step and after its files were staged
//! the run has recorded git's index as a tree; the difference of the two is printed. What git cannot know is
//! reported instead: nothing is guessed from the files as they are now.

use super::filled_prompt::agent_step;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::git::Git;
use crate::session::time_flags::LIMITS;
use crate::terminal::format::clean;
use crate::terminal::out;
use towpath_core::{JobKind, StepPath};
use towpath_engine::{RecordedJob, recorded_jobs};
use towpath_run::IndexState;
use towpath_store::{RunRow, Store};

pub fn print(
    store: &Store,
    row: &RunRow,
    step: &str,
    env: &Environment,
) -> Result<Exit, CommandError> {
    let (path, jobs) = agent_step(store, row, step)?;
    let own: Vec<&RecordedJob> =
        jobs.iter().filter(|job| job.job.key.step_path() == path).collect();
    let (before, after, changed) = trees(&own).map_err(|why| {
        CommandError::bad_input(format!("what {path} changed is not known: {why}"))
    })?;
    let together = together(&jobs, &own, &path);
    if !together.is_empty() {
        let names = clean(&together.join(", "));
        out::note(format!("note: {names} worked at the same time; its changes are shown too"));
    }
    if !changed.is_empty() {
        let names = clean(&changed.join(", "));
        out::note(format!("note: not shown: files with changes before the step: {names}"));
    }
    print_between(row, &before, &after, path.as_str(), env)
}

/// Changes from before the first agent step of a run until after the last one.
pub fn print_run(store: &Store, row: &RunRow, env: &Environment) -> Result<Exit, CommandError> {
    let jobs = recorded_jobs(store, &row.id, LIMITS)?;
    let directory = jobs.iter().find(|job| job.job.key.kind == JobKind::Snapshot);
    let directory = directory.map(|job| &job.job.directory);
    let tree = |kind: JobKind, job: &RecordedJob| {
        let here = job.job.key.kind == kind && Some(&job.job.directory) == directory;
        let end = job.end.as_ref().filter(|_| here);
        end.and_then(|(end, _)| IndexState::printed_by(kind, end)?.tree)
    };
    let before = jobs.iter().find_map(|job| tree(JobKind::Snapshot, job));
    let after = jobs.iter().rev().find_map(|job| tree(JobKind::GitAdd, job));
    match (before, after) {
        (Some(before), Some(after)) => print_between(row, &before, &after, "the run", env),
        _ => Err(CommandError::bad_input(
            "what the run changed is not known: no agent step of it ended in a git repository",
        )),
    }
}

fn print_between(
    row: &RunRow,
    before: &str,
    after: &str,
    what: &str,
    env: &Environment,
) -> Result<Exit, CommandError> {
    let color = if env.stdout_color { "--color=always" } else { "--color=never" };
    let flags = ["diff", "--no-ext-diff", "--no-textconv", color, before, after, "--"];
    let diff = Git::new(&row.directory).run(&flags)?;
    if diff.is_empty() {
        out::note(format!("{what} changed nothing that git knows of"));
    }
    out::stdout(out::masked(&String::from_utf8_lossy(&diff)).as_bytes());
    Ok(Exit::Done)
}

/// The index before and after, and what had changes outside of it before.
fn trees(own: &[&RecordedJob]) -> Result<(String, String, Vec<String>), String> {
    let state = |kind: JobKind, jobs: &[&RecordedJob]| {
        let at = jobs.iter().rposition(|job| job.job.key.kind == kind)?;
        let (end, _) = jobs[at].end.as_ref()?;
        Some((at, IndexState::printed_by(kind, end)))
    };
    if own.is_empty() {
        return Err("it has not run".to_owned());
    }
    let Some((at, before)) = state(JobKind::Snapshot, own) else {
        return Err("nothing is staged after it, so git was not asked".to_owned());
    };
    let Some(before) = before else {
        return Err("it did not work in a git repository".to_owned());
    };
    let Some((_, Some(after))) = state(JobKind::GitAdd, &own[at..]) else {
        return Err("it has not ended well, so its changes were not staged".to_owned());
    };
    match (before.tree, after.tree) {
        (Some(first), Some(second)) => Ok((first, second, before.changed)),
        _ => Err("git could not record its index, or an older towpath ran it".to_owned()),
    }
}

/// The other agent steps that worked while this one did.
fn together(jobs: &[RecordedJob], own: &[&RecordedJob], path: &StepPath) -> Vec<String> {
    let works = |job: &&&RecordedJob| job.job.key.kind == JobKind::Agent;
    let Some(mine) = own.iter().rfind(works) else { return Vec::new() };
    let ended = |job: &RecordedJob| job.end.as_ref().map_or(i64::MAX, |(_, at)| *at);
    let mut names: Vec<String> = jobs
        .iter()
        .filter(|job| job.job.key.kind == JobKind::Agent && job.job.key.step_path() != *path)
        .filter(|job| job.started_ms < ended(mine) && mine.started_ms < ended(job))
        .map(|job| job.job.key.step_path().to_string())
        .collect();
    names.dedup();
    names
}

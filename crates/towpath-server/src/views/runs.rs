//! The list of runs: what needs the user first, then what runs, then the rest.

use super::dismissed::Dismissed;
use super::journal::{find, now_ms, open, owner};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use towpath_core::{RunStatus, StatusKind};
use towpath_engine::is_owned;
use towpath_store::{RunFilter, RunRow, Store};
use towpath_view::amounts_and_times::rfc3339;
use towpath_view::foreign_text::escaped;
use towpath_view::run_json::{
    StepInFlight, bring_up_to_date, dollars, position, runs_json, status_of, steps_in_flight,
};

const USUAL: usize = 50;
const MOST: usize = 1000;
/// So many runs of a recipe are its history.
const HISTORY: usize = 20;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// A failure that is older needs nobody any more.
const SEEN_AFTER_MS: i64 = 7 * DAY_MS;

/// A run with what the list shows of it.
struct Listed {
    row: RunRow,
    status: RunStatus,
    group: Group,
    running_steps: Vec<StepInFlight>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Asking,
    Waiting,
    Interrupted,
    Failed,
    Running,
    Rest,
}

impl Group {
    fn as_str(self) -> &'static str {
        match self {
            Group::Asking => "asking",
            Group::Waiting => "waiting",
            Group::Interrupted => "interrupted",
            Group::Failed => "failed",
            Group::Running => "running",
            Group::Rest => "rest",
        }
    }

    /// A run that has a process and waits continues by itself.
    fn of(status: &RunStatus, asks: bool, owned: bool, seen: impl Fn() -> bool) -> Group {
        match status.kind() {
            _ if asks => Group::Asking,
            Some(StatusKind::Waiting) if !owned => Group::Waiting,
            Some(StatusKind::Waiting | StatusKind::Running) => Group::Running,
            Some(StatusKind::Interrupted) if !seen() => Group::Interrupted,
            Some(StatusKind::Failed) if !seen() => Group::Failed,
            _ => Group::Rest,
        }
    }
}

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let limit = asked.number("limit")?.unwrap_or(USUAL).min(MOST);
    let wanted = Wanted::new(asked)?;
    let Some(store) = open(server)? else {
        return Ok(Answer::Json(json_of(server, None, &[], &[], 0)));
    };
    let all = listed(server, &store)?;
    let mut found: Vec<&Listed> = all.iter().filter(|listed| wanted.has(listed)).collect();
    found.sort_by_key(|listed| listed.group);
    let count = found.len();
    let each = asked.number("each")?.unwrap_or(usize::MAX);
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    found.retain(|listed| {
        let in_group = groups.entry(listed.group.as_str()).or_default();
        *in_group += 1;
        *in_group <= each
    });
    if let Some(before) = asked.query("before") {
        let id = find(&store, before)?.id;
        let at = found.iter().position(|listed| listed.row.id == id);
        found.drain(..at.map_or(found.len(), |at| at + 1));
    }
    found.truncate(limit);
    let mut value = json_of(server, Some(&store), &all, &found, count);
    value["groups"] = json!(groups);
    Ok(Answer::Json(value))
}

/// Every run, the newest first.
fn listed(server: &Server, store: &Store) -> Result<Vec<Listed>, Refusal> {
    let mut later = HashSet::new();
    let rows = store.runs(&RunFilter::default())?;
    let dismissed = Dismissed::read(server, store)?;
    let oldest = now_ms() - SEEN_AFTER_MS;
    let listed = |mut row: RunRow| {
        let status = status_of(store, &row);
        let is_latest = later.insert((row.recipe.clone(), row.directory.clone()));
        let waits = status.is(StatusKind::Waiting);
        let owned = waits && is_owned(store, &row.id);
        let id = row.id.clone();
        let (ended, directory) =
            (row.summary.ended_ms.unwrap_or(row.created_ms), row.directory.clone());
        // Whoever started the recipe again has seen how the earlier run ended.
        let seen = || !is_latest || ended < oldest || dismissed.has(&id) || !directory.is_dir();
        let known = bring_up_to_date(store, &mut row, server.config.run_limits);
        let known = known.as_ref().map(|known| &known.run);
        let asks = match status {
            RunStatus::Asking { .. } => true,
            RunStatus::Interrupted => {
                known.is_some_and(|run| !run.asking_when_resumed(now_ms()).is_empty())
            }
            _ => false,
        };
        let running_steps = known.map_or_else(Vec::new, |run| steps_in_flight(&run.view()));
        Listed { group: Group::of(&status, asks, owned, seen), row, status, running_steps }
    };
    Ok(rows.into_iter().map(listed).collect())
}

/// Which runs a request wants.
struct Wanted<'a> {
    text: Option<String>,
    project: Option<&'a Path>,
    status: Option<StatusKind>,
}

impl<'a> Wanted<'a> {
    fn new(asked: &'a Asked) -> Result<Wanted<'a>, Refusal> {
        let unknown = |word| Refusal::bad_input(format!("`{word}` is not the status of a run"));
        let status = asked
            .query("status")
            .map(|word| StatusKind::named(word).ok_or_else(|| unknown(word)))
            .transpose()?;
        let text = asked.query("text").map(str::to_lowercase);
        Ok(Wanted { text, project: asked.query("project").map(Path::new), status })
    }

    fn has(&self, listed: &Listed) -> bool {
        let Listed { row, status, .. } = listed;
        let has_text = |text: &String| {
            let location = position(&row.summary.status, &|_| String::new());
            let directory = escaped(&row.directory);
            let texts = [row.id.as_str(), &row.recipe, &row.source, &directory, &location];
            texts.iter().any(|known| known.to_lowercase().contains(text))
        };
        let asks = |wanted| wanted == StatusKind::Asking && listed.group == Group::Asking;
        self.status.is_none_or(|wanted| status.is(wanted) || asks(wanted))
            && self.project.is_none_or(|project| row.directory.starts_with(project))
            && self.text.as_ref().is_none_or(has_text)
    }
}

fn json_of(
    server: &Server,
    store: Option<&Store>,
    all: &[Listed],
    found: &[&Listed],
    count: usize,
) -> Value {
    let rows: Vec<Value> = store.map_or_else(Vec::new, |store| {
        found.iter().map(|listed| row_json(server, store, listed)).collect()
    });
    json!({
        "schema": 1,
        "runs": rows,
        "found": count,
        "groups": {},
        "total": all.len(),
        "totals": totals(server, all),
        "history": history(server, all, found),
        "projects": projects(all),
    })
}

/// A row of the program's own list, with its group and its owner.
fn row_json(server: &Server, store: &Store, listed: &Listed) -> Value {
    let running = listed.running_steps.iter().map(|step| {
        let since = step.started_ms.map(|ms| rfc3339(ms, &server.config.zone));
        json!({ "path": step.path, "since": since })
    });
    let owner = owner(server, store, &listed.row.id);
    let row = (listed.row.clone(), listed.status.clone());
    let mut value = runs_json(&[row], &server.config.zone);
    let mut value = value["runs"][0].take();
    value["group"] = json!(listed.group.as_str());
    value["owner"] = owner;
    value["running_steps"] = running.collect();
    value
}

/// One run as the list has it.
pub(crate) fn one(server: &Server, store: &Store, row: &RunRow) -> Result<Value, Refusal> {
    let all = listed(server, store)?;
    let listed = all.iter().find(|listed| listed.row.id == row.id);
    listed
        .map(|listed| row_json(server, store, listed))
        .ok_or_else(|| Refusal::not_found(format!("there is no run {}", row.id)))
}

/// What the runs cost: of today, of the last seven days, of all.
fn totals(server: &Server, all: &[Listed]) -> Value {
    let now = now_ms();
    let of_ms = |ms| Timestamp::from_millisecond(ms).unwrap_or_default();
    let midnight = of_ms(now).to_zoned(server.config.zone.clone()).start_of_day();
    let midnight = midnight.map_or(now, |midnight| midnight.timestamp().as_millisecond());
    let since = |from: i64| {
        let runs = all.iter().filter(|listed| listed.row.created_ms >= from);
        let summaries = || runs.clone().map(|listed| &listed.row.summary);
        json!({
            "runs": runs.clone().count(),
            "known_usd": dollars(summaries().filter_map(|summary| summary.cost_microusd).sum()),
            "incomplete_runs": summaries().filter(|summary| summary.cost_unknown).count(),
        })
    };
    json!({ "today": since(midnight), "week": since(now - 7 * DAY_MS), "all": since(i64::MIN) })
}

/// Runs with the same name and file are runs of one recipe; of a built-in, those in one directory.
pub(crate) fn same_recipe(row: &RunRow) -> (&str, PathBuf) {
    (&row.recipe, row.directory.join(&row.source))
}

/// The last runs of each recipe that is listed, the newest last.
fn history(server: &Server, all: &[Listed], found: &[&Listed]) -> Vec<Value> {
    let mut recipes: BTreeMap<(&str, PathBuf), Vec<&Listed>> =
        found.iter().map(|listed| (same_recipe(&listed.row), Vec::new())).collect();
    for listed in all {
        if let Some(runs) = recipes.get_mut(&same_recipe(&listed.row))
            && runs.len() < HISTORY
        {
            runs.push(listed);
        }
    }
    let run = |listed: &&Listed| {
        let row = (listed.row.clone(), listed.status.clone());
        let row = runs_json(&[row], &server.config.zone);
        let row = &row["runs"][0];
        json!({
            "run_id": row["run_id"],
            "status": row["status"],
            "started": row["started"],
            "duration": row["duration"],
        })
    };
    let recipe = |((name, _), runs): (_, Vec<&Listed>)| {
        let directory = runs.first().map(|listed| escaped(&listed.row.directory));
        let runs: Vec<Value> = runs.iter().rev().map(run).collect();
        json!({ "recipe_name": name, "directory": directory, "runs": runs })
    };
    recipes.into_iter().map(recipe).collect()
}

/// The directories in which runs were started.
fn projects(all: &[Listed]) -> Vec<Value> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for listed in all {
        *counts.entry(escaped(&listed.row.directory)).or_default() += 1;
    }
    let project = |(directory, runs)| json!({ "directory": directory, "runs": runs });
    counts.into_iter().map(project).collect()
}

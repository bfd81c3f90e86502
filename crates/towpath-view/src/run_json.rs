//! A recorded run as JSON: a row of the list, and one run with its steps.

use crate::amounts_and_times::{rfc3339, seconds};
use crate::cost::Cost;
use crate::foreign_text::escaped;
use crate::result_json;
use crate::step_text::{callee, step_text};
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use towpath_core::{RunStatus, StatusKind, StepPath};
use towpath_engine::{Recorded, census, is_owned, not_enforced, recorded, summary};
use towpath_recipe::Program;
use towpath_run::{Limits, Run, StepState, StepView};
use towpath_store::{RunRow, Store, Summary};

/// The status of a run. One that is recorded as running and has no owner was interrupted.
pub fn status_of(store: &Store, row: &RunRow) -> RunStatus {
    let status = row.summary.status.clone();
    if status == RunStatus::Running && !is_owned(store, &row.id) {
        return RunStatus::Interrupted;
    }
    status
}

/// A run that has not ended has a summary from its start: its record has the present one. Returns the run
/// as it is recorded; none of one that has ended.
pub fn bring_up_to_date(store: &Store, row: &mut RunRow, limits: Limits) -> Option<Recorded> {
    if row.summary.status != RunStatus::Running {
        return None;
    }
    let Ok(known) = recorded(store, &row.id, Limits { agents: 1, ..limits }) else {
        // One that cannot be read any more is listed as it was at its start; looking at it reports why.
        row.summary.cost_unknown = true;
        return None;
    };
    row.summary = summary(&known.run, None, row.summary.active_ms);
    Some(known)
}

/// A step that was started and has no end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepInFlight {
    pub path: StepPath,
    pub started_ms: Option<i64>,
}

/// The steps that were started and have no end; of one that calls a recipe its steps.
pub fn steps_in_flight(steps: &[StepView]) -> Vec<StepInFlight> {
    let mut found = Vec::new();
    for step in steps {
        let below = steps_in_flight(&step.children);
        let open = matches!(step.state, StepState::Running | StepState::Interrupted);
        if below.is_empty() && open {
            let (path, started_ms) = (step.path.clone(), step.started_ms);
            found.push(StepInFlight { path, started_ms });
        }
        found.extend(below);
    }
    found
}

/// Runs, each with the status that whoever looked found out.
pub fn runs_json(rows: &[(RunRow, RunStatus)], zone: &TimeZone) -> Value {
    let runs: Vec<Value> = rows.iter().map(|(row, status)| row_json(row, status, zone)).collect();
    json!({ "schema": 1, "runs": runs })
}

fn row_json(row: &RunRow, status: &RunStatus, zone: &TimeZone) -> Value {
    let s = &row.summary;
    let time = |ms: i64| rfc3339(ms, zone);
    let (location, reason) = match &s.status {
        RunStatus::Failed { step, reason } => (step.to_string(), reason.as_ref()),
        status => (position(status, &time), None),
    };
    json!({
        "run_id": row.id.as_str(),
        "recipe_name": row.recipe,
        "source": row.source,
        "directory": escaped(&row.directory),
        "status": status.as_str(),
        "started": time(row.created_ms),
        "ended": s.ended_ms.map(time),
        "duration": active_seconds(s),
        "cost_usd": known_cost(s),
        "cost_complete": !s.cost_unknown,
        "where": location,
        "reason": reason,
        "waiting_for": status.is(StatusKind::Waiting).then(|| status.waits_for()),
        "steps": { "ran": s.steps_done, "skipped": s.steps_skipped, "total": s.steps_total },
    })
}

/// The step a run is at, or what it waits for, with times as the reader wants them.
pub fn position(status: &RunStatus, time: &dyn Fn(i64) -> String) -> String {
    match status {
        RunStatus::Waiting { why, until_ms: Some(until) } => {
            format!("{} until {}", why.as_str(), time(*until))
        }
        status => status.location(),
    }
}

fn active_seconds(summary: &Summary) -> Option<f64> {
    Some(summary.active_ms).filter(|ms| *ms > 0).map(seconds)
}

/// The part that is known: nothing was paid where no agent was called.
fn known_cost(summary: &Summary) -> Option<f64> {
    let unpaid = (!summary.cost_unknown).then_some(0.0);
    summary.cost_microusd.map(dollars).or(unpaid)
}

pub fn dollars(micro: i64) -> f64 {
    micro as f64 / 1e6
}

/// Adds to each step what it does, as its author wrote it.
fn add_texts(steps: &mut Value, program: &Program, recipe: usize) {
    for object in steps.as_array_mut().into_iter().flatten() {
        let id = object["step_id"].as_str().unwrap_or_default();
        let known = program.recipes[recipe].step_index(id);
        let Some(step) = known.map(|index| &program.recipes[recipe].steps[index]) else { continue };
        object["text"] = json!(step_text(step));
        if let (Some(callee), Some(children)) =
            (callee(program, recipe, step), object.get_mut("children"))
        {
            add_texts(children, program, callee);
        }
    }
}

/// A run out of the journal.
#[derive(Debug)]
pub struct ShownRun {
    pub row: RunRow,
    /// As whoever looked found it out.
    pub status: RunStatus,
    /// A process has it: one that waits continues by itself.
    pub owned: bool,
    pub recorded: Recorded,
}

impl ShownRun {
    pub fn new(store: &Store, row: RunRow, recorded: Recorded) -> ShownRun {
        let owned = is_owned(store, &row.id);
        ShownRun { status: status_of(store, &row), row, owned, recorded }
    }

    pub fn run(&self) -> &Run {
        &self.recorded.run
    }

    pub fn is_running(&self) -> bool {
        self.status == RunStatus::Running
    }

    /// The steps about which the user must decide, now or as soon as the run is resumed.
    pub fn asking(&self, now_ms: i64) -> Vec<StepPath> {
        match self.status {
            RunStatus::Running | RunStatus::Done => Vec::new(),
            _ => self.run().asking_when_resumed(now_ms),
        }
    }

    /// The programs that meet what the plan requires.
    fn requirements(&self) -> Vec<Value> {
        let required = self.recorded.options.requirements.iter();
        let met = required.map(|met| {
            let found = met.found();
            json!({
                "name": met.name(),
                "version": found.version,
                "program": escaped(&found.program),
                "directory_first": found.directory_first,
            })
        });
        met.collect()
    }

    /// The steps as in a result, with what only a look can know. `resume` is the command that
    /// continues the run.
    pub fn json(&self, resume: Option<String>, now_ms: i64, zone: &TimeZone) -> Value {
        let row = &self.row;
        let time = |ms: i64| rfc3339(ms, zone);
        let mut steps = result_json::steps(&self.run().view());
        if !self.is_running() {
            result_json::mark_over(&mut steps);
        }
        add_texts(&mut steps, self.run().program(), 0);
        let cost = Cost::of(&census(self.run()));
        json!({
            "schema": 1,
            "run_id": row.id.as_str(),
            "recipe_name": row.recipe,
            "source": row.source,
            "directory": escaped(&row.directory),
            "inputs": self.run().program().plan.inputs,
            "worktree": self.recorded.options.worktree.as_ref().map(|worktree| json!({
                "path": worktree.path, "branch": worktree.branch, "base": worktree.base,
            })),
            "requirements": self.requirements(),
            "sandbox": self.recorded.options.sandbox.as_ref().map(|sandbox| json!({
                "kind": sandbox.as_str(), "not_enforced": not_enforced(sandbox),
            })),
            "status": self.status.as_str(),
            "started": time(row.created_ms),
            "ended": row.summary.ended_ms.map(time),
            "duration": active_seconds(&row.summary),
            "cost_usd": cost.known(),
            "cost_complete": !cost.unknown,
            "steps": steps,
            "machine": result_json::machine(self.run()),
            "asking": self.asking(now_ms),
            "waiting_until": self.status.waits_until().map(time),
            "waiting_for": self.status.is(StatusKind::Waiting).then(|| self.status.waits_for()),
            "resume": resume,
            "warnings": self.recorded.warnings,
        })
    }
}

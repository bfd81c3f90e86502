//! Recipes and the state of this machine, as the program's own commands print them.

use super::journal::open;
use super::run::texts;
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::own_program::{self, Asking};
use crate::routes::Asked;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::path::PathBuf;
use towpath_core::StatusKind;
use towpath_store::{RunFilter, RunRow};
use towpath_view::amounts_and_times::seconds;
use towpath_view::foreign_text::escaped;
use towpath_view::run_json::dollars;

pub(crate) fn list(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let directory = directory(server, asked)?;
    let mut value = own_program::json(server, &directory, &Asking::Recipes)?;
    refuse_error(&value)?;
    value["directory"] = json!(escaped(&directory));
    Ok(Answer::Json(value))
}

pub(crate) fn doctor(server: &Server, _: &Asked) -> Result<Answer, Refusal> {
    let value = own_program::json(server, &server.config.directory, &Asking::Doctor)?;
    refuse_error(&value)?;
    Ok(Answer::Json(value))
}

pub(crate) fn one(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let directory = directory(server, asked)?;
    let name = asked.path("name");
    let ask = |asking: Asking<'_>| own_program::json(server, &directory, &asking);
    let recipe = ask(Asking::Recipe(name))?;
    refuse_error(&recipe)?;
    let set: Vec<&str> = asked.queries("set").collect();
    let dry_run = ask(Asking::DryRun(name, &set))?;
    let source = recipe["recipes"][0]["source"].as_str().map(PathBuf::from);
    let file = source.map(|source| directory.join(source)).filter(|file| file.is_file());
    let untrusted = recipe["trusted"] == false;
    let trust = match file.filter(|_| untrusted) {
        Some(file) => ask(Asking::Trust(&file))?,
        None => Value::Null,
    };
    Ok(Answer::Json(json!({
        "schema": 1,
        "directory": escaped(&directory),
        "name": name,
        "chart": own_program::text(server, &directory, &Asking::Chart(name))?,
        "context_texts": texts(&recipe["recipes"][0]["context"]),
        "dry_run": dry_run,
        "trust": trust,
        "past": past(server, recipe["recipe"].as_str().unwrap_or(name))?,
        "recipe": recipe,
    })))
}

/// The directory that a request means.
pub(crate) fn directory(server: &Server, asked: &Asked) -> Result<PathBuf, Refusal> {
    let named = asked.query("directory").or_else(|| asked.body["directory"].as_str());
    let Some(named) = named.filter(|named| !named.is_empty()) else {
        return Ok(server.config.directory.clone());
    };
    let path = PathBuf::from(named);
    match path.is_absolute() && path.is_dir() {
        true => Ok(path),
        false => {
            Err(Refusal::bad_input(format!("{named} must be the absolute path of a directory")))
        }
    }
}

/// The program's own refusal, with its words.
fn refuse_error(value: &Value) -> Result<(), Refusal> {
    let Some(error) = value.get("error").and_then(Value::as_object) else { return Ok(()) };
    let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    let status = match text("kind") {
        "not-found" => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    };
    Err(Refusal::new(status, text("kind"), text("message")))
}

/// What earlier runs of a recipe took and cost.
fn past(server: &Server, recipe: &str) -> Result<Value, Refusal> {
    let filter = RunFilter { recipe: Some(recipe.to_owned()), ..RunFilter::default() };
    let rows = open(server)?.map_or_else(|| Ok(Vec::new()), |store| store.runs(&filter))?;
    let count = |kind| rows.iter().filter(|row| row.summary.status.is(kind)).count();
    let done = || rows.iter().filter(|row| row.summary.status.is(StatusKind::Done));
    let durations = done().map(|row| row.summary.active_ms);
    let known = |row: &&RunRow| !row.summary.cost_unknown;
    let costs = done().filter(known).map(|row| row.summary.cost_microusd.unwrap_or(0));
    Ok(json!({
        "runs": rows.len(),
        "done": count(StatusKind::Done),
        "failed": count(StatusKind::Failed),
        "median_duration": median(durations).map(seconds),
        "median_cost_usd": median(costs).map(dollars),
        "cost_unknown_runs": rows.iter().filter(|row| row.summary.cost_unknown).count(),
    }))
}

fn median(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

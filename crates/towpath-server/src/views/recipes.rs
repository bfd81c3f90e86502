//! Recipes and the state of this machine, as the program's own commands print them.

use super::journal::open;
use super::run::texts;
use super::runs::same_recipe;
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::own_program::{self, Asking, input_pairs};
use crate::routes::Asked;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
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
    let name = known_name(server, &directory, asked)?;
    let ask = |asking: Asking<'_>| own_program::json(server, &directory, &asking);
    let recipe = ask(Asking::Recipe(name))?;
    refuse_error(&recipe)?;
    let set: Vec<&str> = asked.queries("set").collect();
    let dry_run = ask(Asking::DryRun(name, &set))?;
    let source = recipe["recipes"][0]["source"].as_str().unwrap_or_default();
    let source = directory.join(source);
    let past = past(server, recipe["recipe"].as_str().unwrap_or(name), &source)?;
    let file = Some(source).filter(|file| file.is_file());
    let untrusted = recipe["trusted"] == false;
    let trust = match file.filter(|_| untrusted) {
        Some(file) => ask(Asking::Trust(&file))?,
        None => Value::Null,
    };
    Ok(Answer::Json(json!({
        "schema": 1,
        "directory": escaped(&directory),
        "name": name,
        "chart": own_program::printed_by(server, &directory, &Asking::Chart(name))?.stdout,
        "context_texts": texts(&recipe["recipes"][0]["context"]),
        "dry_run": dry_run,
        "trust": trust,
        "past": past,
        "recipe": recipe,
    })))
}

/// A dry run with inputs of any length, which an address could not have.
pub(crate) fn dry_run(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let inputs = asked.body["inputs"].as_object();
    let inputs = inputs.ok_or_else(|| Refusal::bad_input("the body has no inputs"))?;
    let directory = directory(server, asked)?;
    let name = known_name(server, &directory, asked)?;
    let set = input_pairs(inputs)?;
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let dry_run = own_program::json(server, &directory, &Asking::DryRun(name, &set))?;
    Ok(Answer::Json(json!({ "schema": 1, "name": name, "dry_run": dry_run })))
}

/// Who may only look gets to know nothing of files that are not listed: an error quotes them.
fn known_name<'a>(server: &Server, directory: &Path, asked: &'a Asked) -> Result<&'a str, Refusal> {
    let name = asked.path("name");
    if !server.config.read_only {
        return Ok(name);
    }
    let listed = own_program::json(server, directory, &Asking::Recipes)?;
    let mut listed = listed["recipes"].as_array().into_iter().flatten();
    let known = listed.any(|recipe| recipe["name"] == name || recipe["path"] == name);
    let none = || Refusal::not_found(format!("there is no recipe {name} in this directory"));
    known.then_some(name).ok_or_else(none)
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

/// Durations and costs of earlier runs of a recipe: not those of another project's recipe with its name.
fn past(server: &Server, recipe: &str, source: &Path) -> Result<Value, Refusal> {
    let filter = RunFilter { recipe: Some(recipe.to_owned()), ..RunFilter::default() };
    let mut rows = open(server)?.map_or_else(|| Ok(Vec::new()), |store| store.runs(&filter))?;
    rows.retain(|row| same_recipe(row).1 == source);
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

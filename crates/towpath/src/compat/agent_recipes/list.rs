//! `--list`: the machines that an id can mean, by their labels; the one that a name means first, what
//! it shadows named behind it.

use super::Line;
use crate::commands::list;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::trust::CalledAs;
use crate::terminal::out;
use crate::terminal::table::one_line;

pub fn execute(env: &Environment, line: &Line) -> Result<Exit, CommandError> {
    let entries = list::entries(
        env,
        &list::Args {
            directory: line.working_dir.clone(),
            recipe_dirs: line.recipe_dir.clone(),
            json: line.json,
            called_as: CalledAs::AgentRecipes,
        },
    )?;
    let mut machines: Vec<&list::Entry> =
        entries.iter().filter(|entry| entry.recipe.label.is_some()).collect();
    machines.sort_by_key(|entry| (entry.recipe.label.clone(), entry.shadowed));
    if line.json {
        let recipes: Vec<serde_json::Value> = machines.iter().map(|e| list::as_json(e)).collect();
        out::json(&serde_json::json!({ "schema": 1, "recipes": recipes }));
        return Ok(Exit::Done);
    }
    let width = |text: fn(&list::Entry) -> String| {
        machines.iter().map(|entry| text(entry).chars().count()).max().unwrap_or(0)
    };
    let id = |entry: &list::Entry| one_line(&entry.recipe.name);
    let label = |entry: &list::Entry| one_line(entry.recipe.label.as_deref().unwrap_or_default());
    let (ids, labels) = (width(id), width(label));
    for entry in &machines {
        let (id, label) = (id(entry), label(entry));
        let shadowed = if entry.shadowed { " (shadowed)" } else { "" };
        let told = match &entry.recipe.broken {
            Some(problem) => format!("broken: {problem}"),
            None => one_line(&entry.recipe.description),
        };
        out::line(format!("{id:ids$}  {label:labels$}  {told}{shadowed}"));
    }
    Ok(Exit::Done)
}

//! `--list`: the machines that an id can mean, by their labels; the one that a name means first, what
//! it shadows named behind it.

use super::AgentRecipesArgs;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::called_as::CalledAs;
use crate::session::recipe_list::{self, Entry};
use crate::terminal::out;
use towpath_view::foreign_text::first_line;

pub fn execute(env: &Environment, line: &AgentRecipesArgs) -> Result<Exit, CommandError> {
    let directory = line.working_dir.as_deref();
    let entries = recipe_list::entries(env, directory, &line.recipe_dir, CalledAs::AgentRecipes)?;
    let mut machines: Vec<&Entry> =
        entries.iter().filter(|entry| entry.recipe.label.is_some()).collect();
    machines.sort_by_key(|entry| (entry.recipe.label.clone(), entry.shadowed));
    if line.json {
        recipe_list::print_json(machines.into_iter());
        return Ok(Exit::Done);
    }
    let width = |text: fn(&Entry) -> String| {
        machines.iter().map(|entry| text(entry).chars().count()).max().unwrap_or(0)
    };
    let id = |entry: &Entry| first_line(&entry.recipe.name);
    let label = |entry: &Entry| first_line(entry.recipe.label.as_deref().unwrap_or_default());
    let (ids, labels) = (width(id), width(label));
    for entry in &machines {
        let (id, label) = (id(entry), label(entry));
        let shadowed = if entry.shadowed { " (shadowed)" } else { "" };
        let description = match &entry.recipe.broken {
            Some(problem) => format!("broken: {problem}"),
            None => first_line(&entry.recipe.description),
        };
        out::line(format!("{id:ids$}  {label:labels$}  {description}{shadowed}"));
    }
    Ok(Exit::Done)
}

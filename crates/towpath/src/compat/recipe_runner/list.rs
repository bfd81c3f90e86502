//! `list`: the recipes that a name can mean, each once, in the order in which a run looks for them.
//! One that cannot be read is shown as broken.

use super::RecipeRunnerArgs;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::called_as::CalledAs;
use crate::session::recipe_list;
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::table::{Cell, Table};

pub fn execute(env: &Environment, line: &RecipeRunnerArgs) -> Result<Exit, CommandError> {
    let directory = line.working_dir.as_deref();
    let entries = recipe_list::entries(env, directory, &line.recipe_dir, CalledAs::RecipeRunner)?;
    if line.json() {
        recipe_list::print(&entries, env, true);
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["NAME", "VERSION", "DESCRIPTION"]);
    let mut found = 0;
    for entry in entries.iter().filter(|entry| !entry.shadowed) {
        found += 1;
        let recipe = &entry.recipe;
        let broken = recipe.broken.as_ref().map(|problem| format!("broken: {problem}"));
        let description = broken.unwrap_or_else(|| recipe.description.clone());
        table.row(vec![Cell::from(&recipe.name), (&recipe.version).into(), description.into()]);
    }
    table.print(&Screen::new(env));
    out::line(format!("{found} recipe(s) found."));
    Ok(Exit::Done)
}

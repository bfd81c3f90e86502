//! The recipes that a client is offered: the state machines that a user in a directory can run by name.
//! Recipes that are not trusted yet are among them: starting one is refused, with the reason.

use super::messages::RecipeEntry;
use crate::Server;
use crate::answer::Refusal;
use crate::own_program::{self, Asking};
use serde_json::Value;
use std::path::Path;

/// By label, as a user reads them.
pub(crate) fn available(server: &Server, directory: &Path) -> Result<Vec<RecipeEntry>, Refusal> {
    let listed = own_program::json(server, directory, &Asking::Recipes)?;
    let entries = listed["recipes"].as_array().into_iter().flatten();
    let mut recipes: Vec<RecipeEntry> = entries.filter_map(entry).collect();
    recipes.sort_by(|a, b| (&a.label, &a.id).cmp(&(&b.label, &b.id)));
    Ok(recipes)
}

fn entry(listed: &Value) -> Option<RecipeEntry> {
    let text = |key: &str| listed[key].as_str().filter(|text| !text.is_empty());
    let runs =
        listed["kind"] == "machine" && listed["shadowed"] == false && listed["error"].is_null();
    let id = text("name").filter(|_| runs)?;
    Some(RecipeEntry {
        id: id.to_owned(),
        label: text("label").unwrap_or(id).to_owned(),
        description: text("description").unwrap_or_default().to_owned(),
    })
}

/// The recipe that a client means; underscores may be hyphens.
pub(crate) fn find(server: &Server, directory: &Path, id: &str) -> Result<Option<String>, Refusal> {
    let recipes = available(server, directory)?;
    let plain = |name: &str| name.replace('_', "-");
    let exact = recipes.iter().find(|recipe| recipe.id == id);
    let found = exact.or_else(|| recipes.iter().find(|recipe| plain(&recipe.id) == plain(id)));
    Ok(found.map(|recipe| recipe.id.clone()))
}

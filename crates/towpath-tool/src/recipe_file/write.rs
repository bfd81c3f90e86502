//! From a recipe to the text of its file. What is as usual is left out.

use crate::tool_recipe::ToolRecipe;

/// The recipe as TOML that [`super::read_recipe`] reads back as the same value.
pub fn write_recipe(recipe: &ToolRecipe) -> String {
    toml::to_string(recipe).expect("a recipe has only strings, numbers, booleans, lists and tables")
}

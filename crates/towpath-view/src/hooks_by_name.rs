//! The hooks of a recipe, by their names.

use towpath_recipe::Recipe;

/// The hooks that a recipe has, by their names.
pub fn hooks(recipe: &Recipe) -> Vec<(&'static str, &str)> {
    let hooks = &recipe.hooks;
    let named = [
        ("pre_step", &hooks.pre_step),
        ("post_step", &hooks.post_step),
        ("on_error", &hooks.on_error),
    ];
    named.into_iter().filter_map(|(name, hook)| Some((name, hook.as_ref()?.text()))).collect()
}

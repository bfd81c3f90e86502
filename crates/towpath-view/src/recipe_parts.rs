//! What is shown of the parts of a recipe, in text, charts and JSON alike: origin, steps, hooks.

use towpath_recipe::{Origin, Program, Recipe, Step, Work};

/// A stable word for where a recipe comes from.
pub fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Named => "named",
        Origin::Given => "given",
        Origin::User => "user",
        Origin::Project => "project",
        Origin::BuiltIn => "built-in",
    }
}

/// The recipe that a step calls, by its index.
pub fn callee(program: &Program, caller: usize, step: &Step) -> Option<usize> {
    match &step.work {
        Work::Recipe { name, .. } => program.callee(caller, name),
        _ => None,
    }
}

/// What a step does, as its author wrote it.
pub fn step_text(step: &Step) -> String {
    match &step.work {
        Work::Bash { command } => command.text().to_owned(),
        Work::Agent(agent) => agent.prompt.source().to_owned(),
        Work::Recipe { name, .. } => name.clone(),
    }
}

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

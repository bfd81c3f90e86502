//! The recipes that come with the program.

/// By name, in the order they are listed.
static RECIPES: &[(&str, &str)] = &[
    ("demo", include_str!("../recipes/demo.yaml")),
    ("demo-checks", include_str!("../recipes/demo-checks.yaml")),
];

/// What the scripted agent answers in the demo, one JSON value per line.
pub const DEMO_ANSWERS: &str = include_str!("../recipes/demo-answers.jsonl");

/// The text of a built-in recipe.
pub fn builtin(name: &str) -> Option<&'static str> {
    RECIPES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    RECIPES.iter().map(|(name, _)| *name)
}

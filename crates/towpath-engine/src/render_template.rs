//! A text with placeholders, filled without a run.

use towpath_core::{Map, Template};

/// Fills the placeholders `{{name}}` of a text, for prompts and prose. A name without a value is empty; a
/// value that contains placeholders is not filled again. Commands are not rendered by this: their values
/// are never in the text.
///
/// ```
/// use towpath_engine::{Map, render};
///
/// let mut context = Map::new();
/// context.insert("deploy".into(), serde_json::json!({ "target": "staging" }));
/// assert_eq!(render("to {{deploy.target}}{{unset}}", &context), "to staging");
/// ```
pub fn render(template: &str, context: &Map) -> String {
    Template::parse(template).render(context)
}

//! Bash text with `{{name}}` places: parsed once, with the quoting context of every place, and
//! filled purely. A value arrives where it stands exactly as it is, one piece, never interpreted.
//!
//! Nothing here starts a shell, reads a file or looks at the environment. What is not understood
//! for sure is refused when the text is parsed, with the place and a way to write it.

pub mod bash;
mod builtins;
mod code_words;
mod context;
mod filled;
mod form;
mod inner_code;
mod integer;
mod literal;
mod names;
mod nested;
mod neutral;
mod reader;
mod reading;
mod recipe_variables;
mod region;
mod rewrite;
mod shell_text;

pub use filled::Filled;
pub use recipe_variables::RecipeVariable;
pub use shell_text::{FillError, PlaceKind, ShellError, ShellPlace, ShellText, ShellWarning};

//! Bash: a tree of its commands with byte ranges ([`bash`]), and text with `{{name}}` placeholders
//! ([`ShellText`]), parsed once with the quoting context of each and filled purely. A value arrives
//! exactly as it is, one piece, never interpreted.
//!
//! Nothing here starts a shell, reads a file or looks at the environment. What is not understood
//! for sure is refused when the text is parsed, with its range and a way to write it.

mod around_placeholder;
pub mod bash;
mod builtins;
mod code_warnings;
mod code_words;
mod context;
mod filled;
mod integer;
mod nested_code;
mod parsed_region;
mod placeholder_form;
mod recipe_variables;
mod refusals;
mod region;
mod rewrite;
mod shell_text;
mod shell_text_reader;
mod simplified_text;
mod variable_attributes;

pub use code_words::words_read_as_code;
pub use filled::Filled;
pub use recipe_variables::RecipeVariable;
pub use shell_text::{
    FillError, PlaceholderKind, ShellError, ShellPlaceholder, ShellText, ShellWarning,
};

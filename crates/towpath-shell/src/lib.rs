//! Bash: a tree of its commands with byte ranges ([`bash`]), and text with `{{name}}` placeholders
//! ([`ShellText`]), parsed once with the quoting context of each and filled purely. A value arrives
//! exactly as it is, one piece, never interpreted.
//!
//! Nothing here starts a shell, reads a file or looks at the environment. What is not understood
//! for sure is refused when the text is parsed, with its range and a way to write it.

pub mod bash;
mod beside_placeholder;
mod builtin_calls;
mod code_warnings;
mod declared_variables;
mod filled_script;
mod guards;
mod integer_values;
mod mark;
mod nested_code;
mod parsed_region;
mod placeholder_context;
mod placeholder_replacement;
mod read_as;
mod recipe_variable;
mod refusal_messages;
mod shell_text;
mod shell_text_analysis;
mod simplified_text;
mod text_edits;
mod unfilled_script_types;

pub use filled_script::{FailFast, Filled};
pub use read_as::read_as;
pub use recipe_variable::RecipeVariable;
pub use shell_text::{
    FillError, PlaceholderKind, ShellError, ShellPlaceholder, ShellText, ShellWarning,
};

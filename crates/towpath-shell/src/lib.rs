//! Bash: a tree of its commands with byte ranges ([`bash`]), and text with `{{name}}` placeholders
//! ([`ShellText`]), parsed once with the quoting context of each and filled purely. A value arrives
//! exactly as it is, one piece, never interpreted.
//!
//! Nothing here starts a shell, reads a file or looks at the environment. What is not understood
//! for sure is refused when the text is parsed, with its range and a way to write it.

pub mod bash;
mod beside_placeholder;
mod builtin_calls;
mod compile_to_unfilled_script;
mod declared_variables;
mod filled_script;
mod guards;
mod integer_values;
mod nested_code;
mod parse_and_fill_shell_text;
mod parse_script_with_placeholders;
mod placeholder_context;
mod placeholder_replacement;
mod recipe_var_environment;
mod refusal_messages;
mod replace_pieces_without_placeholder;
mod text_edits;
mod text_with_placeholder_marks;
mod unfilled_script_types;
mod value_as_code_warnings;
mod words_read_as_code;

pub use filled_script::{FailFast, Filled};
pub use parse_and_fill_shell_text::{
    FillError, PlaceholderKind, ShellError, ShellPlaceholder, ShellText, ShellWarning,
};
pub use recipe_var_environment::RecipeVariable;
pub use words_read_as_code::words_read_as_code;

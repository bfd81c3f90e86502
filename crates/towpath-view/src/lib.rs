//! Recipes and runs as values to show: charts of a recipe (text, SVG, Mermaid), and the
//! JSON of recipes, runs and results. Pure functions from data to values and strings, so that a
//! server can use them as well as a terminal. Colour, tables and widths are the caller's; so is
//! whatever names a command or a flag, and the time zone.

pub mod amounts_and_times;
pub mod chart;
pub mod foreign_text;
pub mod recipe_json;
pub mod result_json;
pub mod run_html;
pub mod run_json;

mod colours_only;
mod cost;
mod failure_text;
mod hooks_by_name;
mod machine_exit_reason;
mod origin_word;
mod problem_json;
mod required_programs_text;
mod resume_preview;
mod run_bounds;
mod step_text;
#[cfg(test)]
mod test_support;

pub use colours_only::ColoursOnly;
pub use cost::Cost;
pub use failure_text::failure_text;
pub use hooks_by_name::hooks;
pub use machine_exit_reason::{BACKEND_ERROR, exit_reason, machine_exit};
pub use origin_word::origin_word;
pub use problem_json::problem_json;
pub use required_programs_text::required;
pub use resume_preview::resume_preview;
pub use run_bounds::RunBounds;
pub use step_text::{callee, step_line, step_text, transition_text};

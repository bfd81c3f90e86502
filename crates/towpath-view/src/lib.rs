//! Recipes and runs as values to show: charts of a recipe (text, SVG, Mermaid, Graphviz), and the
//! JSON of recipes, runs and results. Pure functions from data to values and strings, so that a
//! server can use them as well as a terminal. Colour, tables and widths are the caller's; so is
//! whatever names a command or a flag, and the time zone.

pub mod chart;
pub mod format;
pub mod recipe_json;
pub mod result_json;
pub mod run_json;

mod cost;
mod depth_and_step_bounds;
mod failure_text;
mod machine_exit;
mod problem_json;
mod recipe_parts;
#[cfg(test)]
mod test_runs;

pub use cost::Cost;
pub use depth_and_step_bounds::RunBounds;
pub use failure_text::failure_text;
pub use machine_exit::{BACKEND_ERROR, exit_reason, machine_exit};
pub use problem_json::problem_json;
pub use recipe_parts::{callee, hooks, origin_word, step_text};

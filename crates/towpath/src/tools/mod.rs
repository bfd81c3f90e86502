//! Everything of tools that is the binary's: which directories and which sandbox, progress on the
//! terminal, consent to a project's tools, the one path from a recipe to an installed tool.

mod call_sources;
pub mod create_tool;
pub mod find_recipe;
pub mod install_tool;
pub mod model_repair;
mod progress_bar;
pub mod project_tools;
pub mod result_lines;
pub mod sandbox_lines;
pub mod shadowed_programs;
mod telemetry;
pub mod tool_session;

//! Everything of tools that is the binary's: which directories and which sandbox, progress on the
//! terminal, consent to a project's tools, the one path from a recipe to an installed tool.

pub mod ask_model_for_check;
mod call_sources;
pub mod find_tool_recipe;
pub mod generate_tool_recipe;
pub mod install_result_lines;
pub mod install_tool;
mod progress_bar;
pub mod project_tools;
mod record_check_repairs;
pub mod sandbox_lines;
pub mod shadowed_programs;
pub mod tool_session;

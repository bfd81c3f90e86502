//! Everything of tools that is the binary's: which directories and which sandbox, progress on the
//! terminal, consent to a project's tools, the one path from a recipe to an installed tool.

pub mod agent_model;
pub mod bin_directory;
pub mod install_tool;
pub mod named_source;
pub mod probe_program;
mod progress_bar;
pub mod project_tools;
pub mod repair_events;
pub mod report;
pub mod tool_session;
pub mod wanted_tool;

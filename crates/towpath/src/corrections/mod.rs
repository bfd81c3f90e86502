//! Corrections of agents' calls: the rules of a user and of a project, and everything about them that
//! is in a file. What a rule means is in `towpath-rules`; the rows are in the journal.

pub mod active_rules;
pub mod correction_view;
pub mod failed_steps;
pub mod failures;
pub mod hook;
pub mod hook_errors;
pub mod hook_log;
pub mod hooks_directory;
pub mod host_state;
pub mod imported_rules;
pub mod install;
pub mod instructions_file;
pub mod produced_lines;
pub mod project_rules;
pub mod project_rules_edit;
pub mod rule_book;
pub mod rule_directory;
pub mod rule_view;
pub mod snapshot_file;
pub mod stamped_file;

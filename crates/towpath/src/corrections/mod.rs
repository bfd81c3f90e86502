//! Corrections of agents' calls: the rules of a user and of a project, and everything about them that
//! is in a file. What a rule means is in `towpath-corrections`; the rows are in the journal.

pub mod active_rules;
pub mod canonical_rule_directories;
pub mod correction_view;
pub mod failures;
pub mod fold_hook_log;
pub mod hook;
pub mod hook_errors;
pub mod hook_log;
pub mod hook_rules_snapshot;
pub mod hooks_directory;
pub mod hosts_ignoring_rewrites;
pub mod install;
pub mod lines_rewritten_in_session;
pub mod project_rules;
pub mod project_rules_edit;
pub mod read_rules_to_import;
pub mod record_failed_steps;
pub mod rule_change_lock;
pub mod rule_view;
pub mod stamped_file;
pub mod user_rules_in_journal;
pub mod write_rules_into_agents_md;

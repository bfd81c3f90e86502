//! The program as its users meet it: the real binary, real files, processes, terminals and git. Each
//! module is named after the feature it tests.

mod agent_steps;
mod backends_without_real_programs;
mod bad_input;
mod cancel;
mod commands_that_only_read;
mod completions;
mod concurrent_runs;
mod crate_layers;
mod decision_log;
mod doctor;
mod documents;
mod dp;
mod dry_run;
mod explain;
mod failures_and_suggest;
mod flags_in_libraries;
mod git_guard;
mod git_staging;
mod hook;
mod init;
mod json_schema;
mod machine_run_cases;
mod machine_validation;
mod machines;
mod man_pages;
mod model_names;
mod new_and_eject;
mod orphan_processes;
mod parse_json;
mod project_rules;
mod promises;
mod prune_runs;
mod published_examples;
mod recipe_manifests;
mod recipe_runner;
mod recipe_sync;
mod resume;
mod rules_command;
mod rules_log;
mod run_lifecycle;
mod secrets;
mod shared_rules;
mod shipped_recipes;
mod tags;
mod test_command;
mod test_command_of_machines;
mod timeouts;
mod trust;
mod uninstall;
mod vocabulary;
mod wait_for_rate_limit;
mod worktree;

#[path = "../support/mod.rs"]
mod support;

//! The program as its users meet it: the real binary, real files, processes, terminals and git. Each
//! module is named after the feature it tests.

mod backends;
mod bad_input;
mod completions;
mod concurrent_runs;
mod crate_layers;
mod doctor;
mod documents;
mod dry_run;
mod explain;
mod flags_in_libraries;
mod git_guard;
mod inspection;
mod log;
mod machine_runs;
mod machine_tests;
mod machine_validation;
mod machines;
mod manual;
mod models;
mod new_and_eject;
mod orphan_processes;
mod promises;
mod prune;
mod published_examples;
mod recipe_manifests;
mod recipe_runner;
mod recipe_sync;
mod recipe_tests;
mod resume;
mod run_lifecycle;
mod schema;
mod secrets;
mod shipped;
mod step_fields;
mod timeouts;
mod uninstall;
mod vocabulary;
mod wait;
mod worktree;

#[path = "../support/mod.rs"]
mod support;

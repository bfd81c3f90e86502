//! The journal as its callers meet it: real files, real processes, real faults.

#![allow(clippy::print_stderr)]

mod child_process;
mod concurrency;
mod correction_rules;
mod delete_runs_and_reclaim_space;
mod dp_aliases_of_each_version;
mod full_disk;
mod killed;
mod list_runs_and_give_ids;
mod newer_foreign_or_damaged_database;
mod open;
mod outputs;
mod pause_and_dismissed_suggestions;
mod read_only_disk;
mod recording;
mod released_schemas;
mod round_trip;
mod support;
mod tool_calls_and_corrections;
mod trust;

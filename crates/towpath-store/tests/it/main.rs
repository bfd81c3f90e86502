//! The journal as its callers meet it: real files, real processes, real faults.

#![allow(clippy::print_stderr)]

mod any_facts_come_back_unchanged;
mod concurrency;
mod correction_rules;
mod create_and_open_journal;
mod damaged_records;
mod delete_runs_and_reclaim_space;
mod dp_aliases_of_each_version;
mod facts_plans_and_summaries;
mod full_disk;
mod killed_while_writing;
mod list_runs_and_give_ids;
mod newer_foreign_or_damaged_database;
mod outputs;
mod pause_and_dismissed_suggestions;
mod read_only_disk;
mod released_schemas;
mod second_process_for_tests;
mod support;
mod tool_calls_and_corrections;
mod trust;

//! The journal as its callers meet it: real files, real processes, real faults.

#![allow(clippy::print_stderr)]

mod child_process;
mod concurrency;
mod damaged_database;
mod dp_database;
mod full_disk;
mod hook_records;
mod killed;
mod listing;
mod open;
mod outputs;
mod prune;
mod read_only_disk;
mod recording;
mod released_schemas;
mod round_trip;
mod rules;
mod support;
mod trust;

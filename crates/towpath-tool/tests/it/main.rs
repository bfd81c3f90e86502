//! Tool recipes, verdicts on probes and static checks of files.

#![allow(clippy::disallowed_methods, reason = "tests read files")]

mod any_printed_text_gets_verdict;
mod archives;
mod attestations;
mod downloads;
mod loopback_server;
mod project_tools;
mod read_recipe;
mod sources;
mod static_check;
mod stored_check_and_next_probe;
mod stored_check_paths;
mod verdict_cases;
mod verdicts_on_program_output;

//! `towpath render`: documents that run their own commands.

mod allowed_commands;
mod output_targets_and_formats;
mod problems;
mod recorded_document_cases;
mod regions;
mod signals_and_timeouts;
mod watch;

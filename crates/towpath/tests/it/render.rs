//! `towpath render`: documents that run their own commands.

mod allowed_commands;
mod cases;
mod output_targets_and_formats;
mod problems;
mod regions;
mod signals_and_timeouts;
mod watch;

//! `towpath render`: documents that run their own commands.

mod cases;
mod signals_and_timeouts;
mod output_targets_and_formats;
mod allowed_commands;
mod problems;
mod regions;
mod watch;

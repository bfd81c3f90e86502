//! `towpath render`: documents that run their own commands.

mod cases;
mod interrupted;
mod output;
mod permissions;
mod problems;
mod regions;
mod watch;

//! The protocol of remote clients, phones above all: they list recipes, start one in a conversation, see
//! its steps as they come, and end it. A run that is started here is an ordinary run, in a process of
//! its own; what is sent about runs is read from the journal, whoever started them. `docs/phone.md`
//! describes every message.
//!
//! ```text
//! connection ─► requests ─► recipes, sessions, history (journal) │ own_program
//!      ▲─────── live_runs ◄─ followed_run ◄─ run_messages, RunFollower (journal)
//! ```

pub mod connection;
mod conversation;
mod exit_recipe;
mod followed_run;
mod handshake;
mod history;
pub mod key;
mod known_sessions;
pub mod live_runs;
mod messages;
mod recipes;
mod requests;
mod run_messages;
pub mod sessions;
pub mod start_recipe;

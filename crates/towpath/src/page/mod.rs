//! The page: one server per state directory, found by its files there, and what it needs of the
//! program: the words and commands for a run, the browser.

pub mod open_browser;
pub mod phone_key;
pub mod run_words;
pub mod running_server;
pub mod start_server;

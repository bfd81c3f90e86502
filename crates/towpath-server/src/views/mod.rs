//! The views: each is made from the journal when it is asked for, and nothing is kept. What a command
//! of the program prints as JSON is made by the same code, with what the page needs beside it.

pub mod compare;
pub mod diff;
pub mod dismissed;
pub mod graph;
pub mod job_list;
pub mod journal;
pub mod log;
mod log_search;
pub mod questions;
pub mod recipes;
pub mod run;
pub mod runs;
pub mod server;
pub mod step;
pub mod transcript;

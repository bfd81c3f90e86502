//! What changes while a page is open: found out by the watcher, numbered in one list, sent to every
//! socket.

pub mod events;
pub mod socket;
pub mod watcher;

//! The journal as its callers meet it: real files, real processes, real faults.

#![allow(clippy::print_stderr)]

mod child;
mod concurrency;
mod damage;
mod fixtures;
mod full_disk;
mod killed;
mod listing;
mod open;
mod outputs;
mod prune;
mod read_only;
mod recording;
mod round_trip;
mod support;
mod trust;

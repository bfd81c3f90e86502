//! The library as an embedder uses it: real bash, a real record, a real warden; only the agents are
//! answered in this process, by adapters.

mod adapters;
mod backends;
mod bash;
mod driver;
mod follower;
mod listener;
mod lookup;
mod support;

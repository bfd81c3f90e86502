//! From a request to a run that has ended: which recipe is meant, consent, the record, the agents, the
//! environment of its steps, and the conclusion.

pub mod agents;
pub mod audit;
pub mod beads;
pub mod demo;
pub mod dry_run;
pub mod machine_flags;
pub mod missing_programs;
pub mod models;
pub mod other_runs;
pub mod recipe_list;
pub mod request;
pub mod result;
pub mod search_path;
pub mod secrets;
pub mod signals;
pub mod time_flags;
pub mod trust;
pub mod wait;
pub mod worktree;

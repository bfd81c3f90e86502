//! The library as an embedder uses it: real bash, a real record, a real warden; only the agents are
//! answered in this process, by adapters.

mod adapter_answers;
mod bash_run_by_adapter_or_engine;
mod custom_backend_files;
mod find_or_refuse_recipe;
mod listener;
mod no_orphans_for_embedder;
mod recipe_result;
mod required_programs;
mod run_follower;
mod run_loop;
mod sandboxed_steps;
mod support;

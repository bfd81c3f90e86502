//! The library as an embedder uses it: real bash, a real record, a real warden; only the agents are
//! answered in this process, by adapters.

mod adapter_answers;
mod adapter_bash_commands;
mod custom_backend;
mod find_or_refuse_recipe;
mod listener;
mod recipe_result;
mod run_follower;
mod run_loop;
mod support;

//! The library as an embedder uses it: real bash, a real record, a real warden; only the agents are
//! answered in this process, by adapters.

mod adapter_answers;
mod bash_run_by_adapter_or_engine;
mod files_of_agent_call_are_private;
mod find_or_refuse_recipe;
mod listener_event_order;
mod no_orphans_for_embedder;
mod outputs_of_called_recipes;
mod required_programs;
mod result_has_output_on_disk;
mod run_follower;
mod run_loop;
mod sandboxed_steps;
mod support;

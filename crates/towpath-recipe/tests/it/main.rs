//! Recipes and state machines, from text to plan: what is read, what is refused and how that is
//! reported, what conditions mean.

mod build_plan;
mod builtin_machines;
mod call_cycles;
mod condition_properties;
mod condition_warnings_of_plan;
mod conditions;
mod damaged_recipes;
mod edited_since_planned;
mod extends;
mod fail_fast;
mod find_agent_instructions;
mod find_recipe;
mod fuzz_corpus;
mod hostile_input;
mod machine_files_steps_and_restarts;
mod machine_validation_cases;
mod other_tools_habits_and_slips;
mod problems_as_lines;
mod recipe_from_valid_text;
mod recipe_lints;
mod recipe_problems;
mod required_inputs;
mod requires;
mod sandbox_field;
mod shipped_recipes;
mod temporary_project;
mod unknown_step_tags;
mod unread_inputs;
mod unset_variables;
mod unusual_recipe_files;

/// What fuzzing checks, and the texts that it found.
#[path = "../../../../fuzz/src/lib.rs"]
mod checks;

//! Recipes and state machines, from text to plan: what is read, what is refused and how that is
//! reported, what conditions mean.

mod builtin_machines;
mod condition_properties;
mod conditions;
mod fuzz_corpus;
mod hostile_input;
mod machine_cases;
mod machines;
mod mutations;
mod recipe_model;
mod recipe_problems;
mod resolve;
mod shipped;
mod support;

/// What fuzzing checks, and the texts that it found.
#[path = "../../../../fuzz/src/lib.rs"]
mod checks;

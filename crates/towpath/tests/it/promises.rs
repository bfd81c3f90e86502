//! Promises of `docs/promises.md`, tried with the real program where no other test does.

mod agent_program_starts;
mod groups_and_called_recipes;
mod hooks_and_search_directories;
mod no_network_or_leftover_files;
mod scarce_resources_and_clock;
mod step_timeouts;
mod values_are_never_code;

use crate::support::{Printed, User};

/// The program under its other name.
fn runner(user: &User, arguments: &[&str]) -> Printed {
    user.towpath(&[&["as", "recipe-runner-rs"], arguments].concat())
}

/// With agents that answer from a script.
fn scripted(user: &User, recipe: &str, answers: &str) -> Printed {
    user.write("answers.jsonl", answers);
    user.towpath(&["run", recipe, "--backend", "scripted", "--script", "answers.jsonl"])
}

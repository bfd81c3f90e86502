//! What a person may rely on, tried with the real program where no other test does; and the table in
//! `docs/promises.md`, which names the test that holds each promise: none may be named that is not
//! there.

mod agents;
mod groups;
mod scarcity;
mod side_effects;
mod step_timeouts;
mod table;
mod values;

use crate::support::{Person, Said};

/// The program under its other name.
fn runner(person: &Person, arguments: &[&str]) -> Said {
    person.towpath(&[&["as", "recipe-runner-rs"], arguments].concat())
}

/// With agents that answer from a script.
fn scripted(person: &Person, recipe: &str, answers: &str) -> Said {
    person.write("answers.jsonl", answers);
    person.towpath(&["run", recipe, "--backend", "scripted", "--script", "answers.jsonl"])
}

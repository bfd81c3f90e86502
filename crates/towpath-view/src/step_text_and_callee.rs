//! What is shown of a step, in text, charts and JSON alike: its text, and the recipe that it calls.

use towpath_recipe::{Program, Step, Work};

/// The recipe that a step calls, by its index.
pub fn callee(program: &Program, caller: usize, step: &Step) -> Option<usize> {
    match &step.work {
        Work::Recipe { name, .. } => program.callee(caller, name),
        _ => None,
    }
}

/// What a step does, as its author wrote it.
pub fn step_text(step: &Step) -> String {
    match &step.work {
        Work::Bash { command } => command.text().to_owned(),
        Work::Agent(agent) => agent.prompt.source().to_owned(),
        Work::Recipe { name, .. } => name.clone(),
    }
}

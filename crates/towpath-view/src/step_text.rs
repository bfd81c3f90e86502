//! What is shown of a step, in text, charts and JSON alike: its text, and the recipe that it calls.

use crate::foreign_text::{first_command_line, first_line};
use towpath_recipe::{Program, Recipe, Step, Transition, Work};

/// The recipe that a step calls, by its index.
pub fn callee(program: &Program, caller: usize, step: &Step) -> Option<usize> {
    match &step.work {
        Work::Recipe { name, .. } => program.callee(caller, name),
        _ => None,
    }
}

/// What a step does, in one line.
pub fn step_line(step: &Step) -> String {
    match &step.work {
        Work::Bash { command } => first_command_line(command.text()),
        _ => first_line(&step_text(step)),
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

/// `commit`, `exit done`, `fail gave-up`, `restart build`.
pub fn transition_text(recipe: &Recipe, then: &Transition) -> String {
    match then {
        Transition::Next(step) => first_line(&recipe.steps[*step].id),
        Transition::Exit { reason, ending } => {
            format!("{} {}", ending.as_str(), first_line(reason))
        }
        Transition::Restart { recipe, .. } => format!("restart {}", first_line(recipe)),
    }
}

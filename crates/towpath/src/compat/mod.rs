//! The other names: the same program with another's flags, texts and exit codes. One table says
//! which names there are; a name that does nothing yet says so and does nothing.

mod agent_recipes;
mod recipe_runner;

use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use std::ffi::OsString;
use towpath_core::nearest;

#[derive(Debug)]
pub struct OtherName {
    pub name: &'static str,
    /// What a person gets under this name.
    pub what: &'static str,
    pub works: bool,
}

pub const NAMES: &[OtherName] = &[
    OtherName { name: "recipe-runner-rs", what: "runs step recipes", works: true },
    OtherName { name: "agent-recipes", what: "runs machine recipes", works: true },
    OtherName { name: "dp", what: "corrects commands", works: false },
    OtherName { name: "meld", what: "renders documents", works: false },
];

/// Does what the program of this name does.
pub fn run(name: &str, arguments: &[OsString]) -> Result<Exit, CommandError> {
    match NAMES.iter().find(|other| other.name == name) {
        Some(OtherName { name: "recipe-runner-rs", .. }) => recipe_runner::run(arguments),
        Some(OtherName { name: "agent-recipes", .. }) => agent_recipes::run(arguments),
        Some(other) => {
            Err(CommandError::bad_input(format!("`{}` is not supported yet", other.name)))
        }
        None => Err(unknown(name)),
    }
}

/// What clap says about a line that it does not take, or about the program itself.
fn usage(error: &clap::Error, exit: Exit) -> Result<Exit, CommandError> {
    let text = error.render().to_string();
    if error.use_stderr() {
        out::stderr(text.as_bytes());
        return Err(CommandError { shown: true, ..CommandError::new(exit, "bad-input", text) });
    }
    out::stdout(text.as_bytes());
    Ok(Exit::Done)
}

/// `towpath as NAME …`
pub fn run_as(arguments: &[OsString]) -> Result<Exit, CommandError> {
    match arguments.split_first() {
        Some((name, rest)) => run(&name.to_string_lossy(), rest),
        None => Err(CommandError::bad_input(format!("towpath as NAME …: there are {}", names()))),
    }
}

fn unknown(name: &str) -> CommandError {
    let near = nearest(name, NAMES.iter().map(|other| other.name));
    let hint = near
        .map_or_else(|| format!("there are {}", names()), |near| format!("did you mean `{near}`?"));
    CommandError::bad_input(format!("towpath has no other name `{name}`: {hint}"))
}

fn names() -> String {
    NAMES.iter().map(|other| other.name).collect::<Vec<_>>().join(", ")
}

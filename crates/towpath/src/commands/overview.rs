//! `towpath` alone: the most used commands, one line each.

use super::Execute;
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::terminal::out;

const TEXT: &str = "\
towpath: recipes that code enforces, for people who work with AI coding agents

  towpath run demo          see it work: no key, no network, three seconds
  towpath run RECIPE        run a recipe, by file or by name
  towpath resume [RUN]      resume an interrupted or failed run
  towpath runs              list runs; then: show, logs, cancel [RUN]
  towpath list              list recipes
  towpath new NAME          create a recipe
  towpath validate RECIPE   check a recipe, and report all problems at once
  towpath explain RECIPE    show what a recipe would do
  towpath doctor            find problems on this machine, and how to fix them
  towpath test              run recipe tests

  towpath help              list all commands
  towpath help COMMAND      show a command's options and an example
";

#[derive(Debug, clap::Args)]
pub struct Args {}

impl Execute for Args {
    fn execute(&self, _: &Invocation) -> Result<Exit, CommandError> {
        out::stdout(TEXT.as_bytes());
        Ok(Exit::Done)
    }
}

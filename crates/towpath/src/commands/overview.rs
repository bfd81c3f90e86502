//! `towpath` alone: the most used commands, one line each.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::screen::Screen;

const TEXT: &str = "\
towpath: let coding agents do the work, and your own commands decide whether it is done

  towpath run demo          see it work: no key, no network, three seconds
  towpath run guide         what it can do, by topic
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
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        Screen::new(invocation.environment()?).message(TEXT);
        Ok(Exit::Done)
    }
}

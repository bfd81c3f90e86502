//! `towpath` alone: the doors, one line each.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;

#[derive(Debug, clap::Args)]
pub struct Args {}

impl Execute for Args {
    fn execute(&self, _: &Invocation) -> Result<Exit, CommandError> {
        out::stdout(
            b"towpath: recipes that code enforces, for people who work with AI coding agents

      towpath run demo              see it work: no key, no network, three seconds
      towpath run RECIPE            run a recipe, by file or by name
      towpath resume RUN            go on where a run was cut off or failed
      towpath runs                  what has run here; then: show RUN, logs RUN, cancel RUN
      towpath list                  the recipes there are
      towpath new NAME              start a recipe of your own
      towpath validate RECIPE       everything that is wrong with a recipe, at once
      towpath explain RECIPE        what a recipe would do
      towpath doctor                what is wrong on this machine, and how to mend it
      towpath test                  run the tests of recipes

      towpath COMMAND --help has an example for each.
    ",
        );
        Ok(Exit::Done)
    }
}

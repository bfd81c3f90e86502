//! `towpath tool`: tools that are installed and proven to work.

mod judge;

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};

/// Find out whether tools work.
///
/// Many working tools do not accept `--version`, and some broken ones seem to. The verdict rests on
/// evidence: the file, how the process ended, what it printed.
///
/// Example: towpath tool judge < observation.json
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: ToolCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ToolCommand {
    Judge(judge::Args),
}

impl Args {
    fn command(&self) -> &dyn Execute {
        match &self.command {
            ToolCommand::Judge(args) => args,
        }
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        self.command().execute(invocation)
    }

    fn json(&self) -> bool {
        self.command().json()
    }
}

//! `towpath tool`: tools that are installed and proven to work.

mod create;
mod events;
mod install;
mod judge;
mod list;
mod outdated;
mod probe;
mod remove;
mod results;
mod run;
mod shell;
mod update;
mod verify;
mod which;

// All commands of tools use these.
use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::tools::tool_session::{ToolFlags, ToolSession};
use serde_json::json;

/// Install tools, and find out whether they work.
///
/// Many working tools do not accept `--version`, and some broken ones seem to. The verdict rests on
/// evidence: the file, how the process ended, what it printed. Tools are built and run in a sandbox.
///
/// Example: towpath tool create kibi
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: ToolCommand,
}

/// A row for each command, with whether it prints JSON.
macro_rules! tool_commands {
    ($($name:ident => $module:ident, $json:expr;)*) => {
        #[derive(Debug, clap::Subcommand)]
        enum ToolCommand {
            $($name(Box<$module::Args>),)*
        }

        impl Execute for Args {
            fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
                match &self.command {
                    $(ToolCommand::$name(args) => args.execute(invocation),)*
                }
            }

            fn json(&self) -> bool {
                match &self.command {
                    $(ToolCommand::$name(args) => {
                        let json: fn(&$module::Args) -> bool = $json;
                        json(args)
                    })*
                }
            }
        }
    };
}

tool_commands! {
    Create => create, |args| args.flags.json;
    Install => install, |args| args.flags.json;
    List => list, |args| args.json;
    Which => which, |args| args.json;
    Run => run, |_| false;
    Shell => shell, |_| false;
    Verify => verify, |args| args.flags.json;
    Outdated => outdated, |args| args.flags.json;
    Update => update, |args| args.flags.json;
    Remove => remove, |args| args.json;
    Probe => probe, |args| args.flags.json;
    Judge => judge, |args| args.json;
    Events => events, |args| args.json;
}

fn no_program(program: &str) -> CommandError {
    CommandError::not_found(format!("no installed tool has the program `{program}`"))
}

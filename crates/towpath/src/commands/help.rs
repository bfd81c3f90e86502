//! `towpath help`: the same text as `--help` after the command.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use towpath_core::nearest;

/// Print the help of towpath, or of a command.
///
/// Example: towpath help tool install
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command, and its subcommand if it has some [default: towpath itself]
    #[arg(value_name = "COMMAND")]
    commands: Vec<String>,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let mut whole = (invocation.command_line)();
        whole.build();
        let mut command = &mut whole;
        for name in &self.commands {
            if command.find_subcommand(name).is_none() {
                return Err(unknown(command, name));
            }
            command = command.find_subcommand_mut(name).expect("it was just found");
        }
        let help = command.render_long_help();
        let color = invocation.environment().is_ok_and(|env| env.stdout_color);
        let text = if color { help.ansi().to_string() } else { help.to_string() };
        out::stdout(text.as_bytes());
        Ok(Exit::Done)
    }
}

fn unknown(command: &clap::Command, name: &str) -> CommandError {
    let own = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let names =
        || command.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name);
    let hint = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("`{own} --help` lists them"),
    };
    CommandError::bad_input(format!("`{own}` has no command `{name}`: {hint}"))
}

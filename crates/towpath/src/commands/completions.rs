//! `towpath completions`: the script that lets a shell complete our commands. The script asks this
//! program at every Tab, so that recipes, runs and steps complete too.

mod answer_tab;
mod candidates;
mod typed_line;

pub use answer_tab::{VARIABLE, answer};

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use clap_complete::env::Shells;

/// Print a script that completes commands, flags, recipes, runs, steps and rules
///
/// Add the line for your shell to its startup file:
///
///   bash  ~/.bashrc:  source <(towpath completions bash)
///   zsh   ~/.zshrc, below compinit:  source <(towpath completions zsh)
///   fish  ~/.config/fish/config.fish:  towpath completions fish | source
///
/// Example: towpath completions bash
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The shell to print the script for.
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
        }
    }
}

const PROGRAM: &str = "towpath";

impl Execute for Args {
    fn execute(&self, _: &Invocation) -> Result<Exit, CommandError> {
        let shells = Shells::builtins();
        let shell = shells.completer(self.shell.name()).expect("these shells are built in");
        let mut script = Vec::new();
        // By its name on PATH, so that the script stays right when the program moves.
        shell
            .write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)
            .map_err(|e| CommandError::setup(format!("the script cannot be made: {e}")))?;
        out::stdout(&script);
        Ok(Exit::Done)
    }
}

//! `towpath schema`: the shape of a file format for editors. It prints what the program itself reads
//! by, looks at nothing and changes nothing.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;

/// The JSON Schema of a file format, for editors
///
/// An editor with the YAML language server (VS Code, Neovim, Helix, Zed, Emacs)
/// completes and checks a recipe that names the schema in its first line, here
/// for a recipe in .towpath/recipes:
///
///   # yaml-language-server: $schema=../steps.schema.json
///
/// Example: towpath schema steps > .towpath/steps.schema.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The format.
    #[arg(value_enum)]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Format {
    /// Step recipes: their steps run in their order.
    Steps,
    /// State machines: the outcome of a step chooses the next.
    Machine,
}

impl Execute for Args {
    fn execute(&self, _: &Invocation) -> Result<Exit, CommandError> {
        match self.format {
            Format::Steps => out::json(&towpath_recipe::steps_schema()),
            Format::Machine => out::json(&towpath_recipe::machine_schema()),
        }
        Ok(Exit::Done)
    }
}

//! `towpath schema`: the JSON Schema of a file format. It comes from the tables that the program
//! itself reads files with; it reads and changes no file.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::settings::settings_schema;
use crate::terminal::out;

/// Print the JSON Schema of a file format, for editors
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
    /// The file format.
    #[arg(value_enum)]
    pub format: SchemaFormat,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum SchemaFormat {
    /// Step recipes: steps run in sequence.
    Steps,
    /// State machines: each step's outcome chooses the next step.
    Machine,
    /// Test files of recipes, NAME.test.yaml.
    Test,
    /// Settings, settings.toml.
    Settings,
}

impl Execute for Args {
    fn execute(&self, _: &Invocation) -> Result<Exit, CommandError> {
        match self.format {
            SchemaFormat::Steps => out::json(&towpath_recipe::steps_schema()),
            SchemaFormat::Machine => out::json(&towpath_recipe::machine_schema()),
            SchemaFormat::Test => out::json(&towpath_testing::test_file_schema()),
            SchemaFormat::Settings => out::json(&settings_schema()),
        }
        Ok(Exit::Done)
    }
}

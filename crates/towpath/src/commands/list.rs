//! `towpath list`: the recipes that a name can mean.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::session::called_as::CalledAs;
use crate::session::recipe_list;
use std::path::PathBuf;

/// List the recipes, in the order in which `towpath run` looks for them.
///
/// Example: towpath list -R ~/team-recipes
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List the recipes of this directory.
    #[arg(short = 'C', long = "working-dir", value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Look for recipes in this directory first. Can be repeated.
    #[arg(short = 'R', long = "recipe-dir", value_name = "DIR")]
    recipe_dirs: Vec<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let directory = self.directory.as_deref();
        let found = recipe_list::entries(env, directory, &self.recipe_dirs, CalledAs::Towpath)?;
        recipe_list::print(&found, env, self.json);
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

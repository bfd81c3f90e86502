//! `towpath recipes`: directories of recipes: their manifest, what changed since, how one compares
//! with another repository's, and copies of built-in recipes to edit.

mod apply_upstream;
mod check;
mod eject;
mod fetch_upstream_recipes;
mod manifest;
mod sync;

use super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::project_settings::settings_for;
use crate::session::recipe_search_path::{PROJECT_DIRECTORIES, search_path};
use crate::terminal::shown_path::shown_path;
use std::path::{Path, PathBuf};
use towpath_recipe::directory_manifest::Manifest;
use towpath_recipe::{Origin, verify_installation};

/// Track changes of recipe directories, sync them, and copy built-in recipes.
///
/// Example: towpath recipes sync https://example.org/team/recipes.git
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: RecipesCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RecipesCommand {
    Manifest(manifest::Args),
    Check(check::Args),
    Sync(sync::Args),
    Eject(eject::Args),
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        match &self.command {
            RecipesCommand::Manifest(args) => manifest::execute(args, env),
            RecipesCommand::Check(args) => check::execute(args, env),
            RecipesCommand::Sync(args) => sync::execute(args, env),
            RecipesCommand::Eject(args) => eject::execute(args, env),
        }
    }

    fn json(&self) -> bool {
        match &self.command {
            RecipesCommand::Check(args) => args.json,
            RecipesCommand::Sync(args) => args.json,
            RecipesCommand::Manifest(_) | RecipesCommand::Eject(_) => false,
        }
    }
}

/// The given directory, else the first of the project's that contains recipes.
fn directory(env: &Environment, given: Option<&Path>) -> Result<PathBuf, CommandError> {
    if let Some(given) = given {
        let directory = env.current.join(env.expand_home(given));
        if !directory.is_dir() {
            return Err(CommandError::bad_input(format!("{}: no such directory", given.display())));
        }
        return Ok(directory);
    }
    project_directory(env)?.ok_or_else(|| {
        let searched = PROJECT_DIRECTORIES.join(", ");
        CommandError::bad_input(format!(
            "this project has no recipes in {searched}; name a directory"
        ))
    })
}

fn project_directory(env: &Environment) -> Result<Option<PathBuf>, CommandError> {
    let settings = settings_for(env, &env.current)?;
    let mut search = search_path(env, &settings, &[], &env.current)?;
    search.directories.retain(|directory| directory.origin == Origin::Project);
    let found = verify_installation(&search);
    Ok(found.into_iter().find(|directory| directory.recipes > 0).map(|directory| directory.path))
}

/// Where new recipes of a project go.
fn directory_for_new(env: &Environment) -> PathBuf {
    env.project_root(&env.current).join(PROJECT_DIRECTORIES[0])
}

/// What a directory contains now.
fn contents(env: &Environment, directory: &Path) -> Result<Manifest, CommandError> {
    let shown = shown_path(directory, env);
    Manifest::of_directory(directory).map_err(|e| CommandError::setup(format!("{shown}: {e}")))
}

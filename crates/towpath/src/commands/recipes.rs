//! `towpath recipes`: whole directories of recipes: what is in one, what has changed since it was
//! noted, how it compares with another repository's, and built-in recipes taken out to be changed.

mod apply;
mod check;
mod eject;
mod manifest;
mod sync;
mod upstream;

use super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::search_path::{PROJECT_PLACES, search_path};
use crate::session::trust;
use crate::terminal::table::shown_path;
use std::path::{Path, PathBuf};
use towpath_recipe::Origin;
use towpath_recipe::manifest::{Manifest, verify_installation};

/// Keep a directory of recipes in step with where they came from.
///
/// Example: towpath recipes sync https://example.org/team/recipes.git
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Manifest(manifest::Args),
    Check(check::Args),
    Sync(sync::Args),
    Eject(eject::Args),
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        match &self.command {
            Command::Manifest(args) => manifest::execute(args, env),
            Command::Check(args) => check::execute(args, env),
            Command::Sync(args) => sync::execute(args, env),
            Command::Eject(args) => eject::execute(args, env),
        }
    }

    fn json(&self) -> bool {
        match &self.command {
            Command::Check(args) => args.json,
            Command::Sync(args) => args.json,
            Command::Manifest(_) | Command::Eject(_) => false,
        }
    }
}

/// The directory a person named, else the first of the project's places that holds recipes.
fn directory(env: &Environment, given: Option<&Path>) -> Result<PathBuf, CommandError> {
    if let Some(given) = given {
        let directory = env.current.join(env.expand_home(given));
        if !directory.is_dir() {
            return Err(CommandError::bad_input(format!("{}: no such directory", given.display())));
        }
        return Ok(directory);
    }
    project_directory(env)?.ok_or_else(|| {
        let places = PROJECT_PLACES.join(", ");
        CommandError::bad_input(format!(
            "this project has no recipes in {places}; name a directory"
        ))
    })
}

fn project_directory(env: &Environment) -> Result<Option<PathBuf>, CommandError> {
    let settings = trust::settings_for(env, &env.current)?;
    let mut search = search_path(env, &settings, &[], &env.current)?;
    search.directories.retain(|directory| directory.origin == Origin::Project);
    let places = verify_installation(&search);
    Ok(places.into_iter().find(|place| place.recipes > 0).map(|place| place.path))
}

/// Where new recipes of a project go.
fn place_for_new(env: &Environment) -> PathBuf {
    env.project_root(&env.current).join(PROJECT_PLACES[0])
}

/// What a directory holds now.
fn contents(env: &Environment, directory: &Path) -> Result<Manifest, CommandError> {
    let shown = shown_path(directory, env);
    Manifest::of_directory(directory).map_err(|e| CommandError::setup(format!("{shown}: {e}")))
}

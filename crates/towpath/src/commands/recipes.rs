//! `towpath recipes`: whole directories of recipes: what is in one, what has changed since it was
//! noted, how it compares with another repository's, and built-in recipes taken out to be changed.

mod apply;
mod check;
mod eject;
mod manifest;
mod sync;
mod upstream;

use super::runs::table::shown_path;
use crate::exit::{Exit, Stop};
use crate::places::{PROJECT_PLACES, search_path};
use crate::surroundings::{Surroundings, project_root};
use crate::trust;
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

impl Args {
    pub fn json(&self) -> bool {
        match &self.command {
            Command::Check(args) => args.json,
            Command::Sync(args) => args.json,
            Command::Manifest(_) | Command::Eject(_) => false,
        }
    }
}

pub fn execute(args: &Args) -> Result<Exit, Stop> {
    match &args.command {
        Command::Manifest(args) => manifest::execute(args),
        Command::Check(args) => check::execute(args),
        Command::Sync(args) => sync::execute(args),
        Command::Eject(args) => eject::execute(args),
    }
}

/// The directory a person named, else the first of the project's places that holds recipes.
fn directory(around: &Surroundings, given: Option<&Path>) -> Result<PathBuf, Stop> {
    if let Some(given) = given {
        let directory = around.current.join(around.expand_home(given));
        if !directory.is_dir() {
            return Err(Stop::bad_input(format!("{}: no such directory", given.display())));
        }
        return Ok(directory);
    }
    project_directory(around)?.ok_or_else(|| {
        let places = PROJECT_PLACES.join(", ");
        Stop::bad_input(format!("this project has no recipes in {places}; name a directory"))
    })
}

fn project_directory(around: &Surroundings) -> Result<Option<PathBuf>, Stop> {
    let settings = trust::settings_for(around, &around.current)?;
    let mut search = search_path(around, &settings, &[], &around.current)?;
    search.directories.retain(|directory| directory.origin == Origin::Project);
    let places = verify_installation(&search);
    Ok(places.into_iter().find(|place| place.recipes > 0).map(|place| place.path))
}

/// Where new recipes of a project go.
fn place_for_new(around: &Surroundings) -> PathBuf {
    project_root(&around.current, around.home.as_deref()).join(PROJECT_PLACES[0])
}

/// What a directory holds now.
fn contents(around: &Surroundings, directory: &Path) -> Result<Manifest, Stop> {
    let shown = shown_path(directory, around);
    Manifest::of_directory(directory).map_err(|e| Stop::setup(format!("{shown}: {e}")))
}

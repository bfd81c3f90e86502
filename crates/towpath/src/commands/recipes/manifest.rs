//! `towpath recipes manifest`: records what a directory of recipes contains.

use super::{contents, directory};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::count;
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use std::path::PathBuf;
use towpath_recipe::directory_manifest::MANIFEST_FILE;

/// Record the contents of a directory of recipes in its `_recipe_manifest.json`.
///
/// It lists every `.yaml`, `.yml` and `.json` file with the first 16 digits of its SHA-256. `towpath
/// recipes check` shows what changed since, and `towpath recipes sync --apply` replaces only files
/// that did not change.
///
/// Example: towpath recipes manifest recipes
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory [default: the project's recipe directory]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

pub fn execute(args: &Args, env: &Environment) -> Result<Exit, CommandError> {
    let directory = directory(env, args.directory.as_deref())?;
    let now = contents(env, &directory)?;
    let shown = shown_path(&directory.join(MANIFEST_FILE), env);
    now.write(&directory).map_err(|e| CommandError::setup(format!("{shown}: {e}")))?;
    out::line(format!("{} in {shown}", count(now.len(), "file")));
    Ok(Exit::Done)
}

//! `towpath recipes check`: what has changed in a directory since its manifest. It only looks.

use super::{contents, directory};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::count;
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use std::path::{Path, PathBuf};
use towpath_recipe::directory_manifest::{Manifest, ManifestError};
use towpath_shell::bash::quote;
use towpath_view::foreign_text::escaped;

/// Show what changed in a directory of recipes since its manifest was written.
///
/// Exits with 0 if nothing changed, with 1 if something did, with 2 without a manifest.
///
/// Example: towpath recipes check recipes
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory [default: the project's recipe directory]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &Args, env: &Environment) -> Result<Exit, CommandError> {
    let directory = directory(env, args.directory.as_deref())?;
    let known = known(env, &directory)?;
    let changes = known.changes(&contents(env, &directory)?);
    let changed = !changes.is_empty();
    if args.json {
        out::json(&serde_json::json!({
            "schema": 1,
            "directory": escaped(&directory),
            "changed": changed,
            "new": changes.new,
            "modified": changes.modified,
            "deleted": changes.deleted,
        }));
    } else {
        let screen = Screen::new(env);
        let rows = [
            ("new", &changes.new, Tint::Good),
            ("modified", &changes.modified, Tint::Attention),
            ("deleted", &changes.deleted, Tint::Bad),
        ];
        for (word, names, tint) in rows {
            for name in names {
                screen.line(&format!("{}  {name}", screen.paint(tint, &format!("{word:8}"))));
            }
        }
        let number = changes.new.len() + changes.modified.len() + changes.deleted.len();
        let what = if changed { count(number, "change") } else { "no changes".to_owned() };
        out::line(format!("{what} in {} since its manifest", shown_path(&directory, env)));
    }
    Ok(if changed { Exit::Failed } else { Exit::Done })
}

/// The manifest of a directory, which must be there.
fn known(env: &Environment, directory: &Path) -> Result<Manifest, CommandError> {
    Manifest::read(directory).map_err(|error| {
        let shown = shown_path(directory, env);
        match error {
            ManifestError::None(_) => CommandError::bad_input(format!(
                "{shown} has no manifest; to write one: towpath recipes manifest {}",
                quote(&shown)
            )),
            error => CommandError::bad_input(error.to_string()),
        }
    })
}

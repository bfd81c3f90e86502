//! Tool recipes in files: by name among the user's, or by path.

use super::tool_session::ToolSession;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::files;
use crate::terminal::diagnostics;
use std::io::ErrorKind as IoError;
use std::path::{Path, PathBuf};
use towpath_core::{Source, nearest};
use towpath_tool::{Origin, ToolRecipe, read_recipe};

/// More than this is no recipe.
const MOST: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub struct RecipeFile {
    pub path: PathBuf,
    pub recipe: ToolRecipe,
    pub origin: Origin,
}

/// The recipe that a user means: a path with a `/` or the ending `.toml`, or a name.
pub fn find(session: &ToolSession<'_>, wanted: &str) -> Result<RecipeFile, CommandError> {
    if wanted.contains('/') || wanted.ends_with(".toml") {
        let path = session.env.current.join(session.env.expand_home(Path::new(wanted)));
        return read(&path, session.env.color)?.ok_or_else(|| not_found(&path.display(), ""));
    }
    match named(session, wanted)? {
        Some(found) => Ok(found),
        None => {
            let known = names(session);
            let near = nearest(wanted, known.iter().map(String::as_str));
            let hint = match near {
                Some(near) => format!("; did you mean `{near}`?"),
                None => format!("; to make one: towpath tool create {wanted}"),
            };
            Err(not_found(&format_args!("no tool recipe `{wanted}`"), &hint))
        }
    }
}

/// The user's recipe of that name.
pub fn named(session: &ToolSession<'_>, name: &str) -> Result<Option<RecipeFile>, CommandError> {
    read(&session.directories.recipe(name), session.env.color)
}

fn not_found(what: &dyn std::fmt::Display, hint: &str) -> CommandError {
    CommandError::new(Exit::BadInput, ErrorKind::NotFound, format!("{what}: not found{hint}"))
}

fn names(session: &ToolSession<'_>) -> Vec<String> {
    let entries = std::fs::read_dir(session.directories.recipes()).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| {
        entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned)
    };
    entries.filter_map(name).collect()
}

/// Reads a recipe; what is wrong with it is drawn. None if there is no file.
fn read(path: &Path, color: bool) -> Result<Option<RecipeFile>, CommandError> {
    let text = match files::read_text(path, MOST) {
        Ok(text) => text,
        Err(error) if error.kind() == IoError::NotFound => return Ok(None),
        Err(error) => {
            return Err(CommandError::bad_input(format!("{}: {error}", path.display())));
        }
    };
    let source = Source::new(path.display().to_string(), text.as_str());
    let recipe = read_recipe(&source).map_err(|problems| {
        diagnostics::refuse_file(&problems, color, Exit::BadInput, ErrorKind::BadRecipe)
    })?;
    let origin = Origin::of(&recipe, &text);
    Ok(Some(RecipeFile { path: path.to_owned(), recipe, origin }))
}

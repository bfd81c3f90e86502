//! Where the files come from that a machine includes: a directory, a stored plan or the program
//! itself. A directory is never left, symbolic links included, and what is no plain file is not
//! read.

use crate::builtin_recipes::builtin_file;
use crate::recipe_file::{self, RecipeFile, stays_below};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{Diagnostic, Source};

/// The word before a built-in's name.
pub(crate) const BUILT_IN: &str = "built-in ";

pub(crate) enum IncludeFiles<'a> {
    /// The directory of the recipe, and the name that the user knows the recipe by.
    Directory {
        base: PathBuf,
        recipe: String,
    },
    Planned {
        files: &'a BTreeMap<String, String>,
        recipe: &'a str,
    },
    BuiltIn,
    /// A pipe has nothing beside it.
    Nothing,
}

impl<'a> IncludeFiles<'a> {
    /// The files beside a recipe that was found.
    pub fn beside(recipe: &RecipeFile, shown: &str) -> IncludeFiles<'a> {
        match recipe {
            RecipeFile::BuiltIn(_) => IncludeFiles::BuiltIn,
            RecipeFile::OnDisk(path) => IncludeFiles::of_file(path, shown),
        }
    }

    pub fn of_file(path: &Path, shown: &str) -> IncludeFiles<'a> {
        let real = path.canonicalize().ok().filter(|real| real.is_file());
        match real.as_deref().and_then(Path::parent) {
            Some(base) => {
                IncludeFiles::Directory { base: base.to_owned(), recipe: shown.to_owned() }
            }
            None => IncludeFiles::Nothing,
        }
    }

    /// The text of the file at this path from the recipe's directory.
    pub fn file(&self, path: &str) -> Result<Arc<Source>, Diagnostic> {
        let missing =
            |why: &str| Err(Diagnostic::error("unreadable", format!("cannot read {path}: {why}")));
        match self {
            IncludeFiles::Nothing => missing("the recipe itself is in no directory"),
            IncludeFiles::BuiltIn => match builtin_file(path) {
                Some(text) => Ok(Source::new(format!("{BUILT_IN}{path}"), text)),
                None => missing("no such file"),
            },
            IncludeFiles::Planned { files, recipe } => match files.get(path) {
                Some(text) => Ok(Source::new(shown(recipe, path), text)),
                None => missing("it is not in the plan"),
            },
            IncludeFiles::Directory { base, recipe } => {
                let shown = shown(recipe, path);
                let real = stays_below(base, &base.join(path));
                let real = real.map_err(|refusal| refusal.problem(&shown))?;
                match real.is_file() {
                    true => recipe_file::load(&real, &shown),
                    false => missing("this is no file"),
                }
            }
        }
    }
}

/// A file beside a recipe as the user would type it.
fn shown(recipe: &str, path: &str) -> String {
    match (recipe.strip_prefix(BUILT_IN), recipe.rsplit_once('/')) {
        (Some(_), _) => format!("{BUILT_IN}{path}"),
        (None, Some((directory, _))) => format!("{directory}/{path}"),
        (None, None) => path.to_owned(),
    }
}

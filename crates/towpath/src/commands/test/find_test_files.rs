//! Which test files to run: those that the user names, those of the recipes they name, those below
//! the directories they name; without any, those beside the project's recipes.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::recipe_search_path::search_path;
use crate::settings::Settings;
use crate::terminal::shown_path::shown_path;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use towpath_core::nearest;
use towpath_recipe::{Origin, SearchPath, list};
use towpath_testing::{find_test_files, is_recipe_file, is_test_file, test_file_of};

/// Where tests are looked for beside the directories in which recipes have names.
const ALSO: [&str; 3] = ["recipes", "examples", "amplifier-bundle"];
const DEPTH: usize = 8;

/// The recipe directories of a directory's project, and those the environment names: not the user's
/// own, on which no test may depend.
pub fn recipe_directories(env: &Environment, directory: &Path) -> Result<SearchPath, CommandError> {
    let settings = Settings::read(env, None)?;
    let mut search = search_path(env, &settings, &[], directory)?;
    search.directories.retain(|d| d.origin != Origin::User && d.path.is_dir());
    Ok(search)
}

/// The test files, absolute, each once, and how many of them, the first ones, the user named by a path;
/// the others were only found.
pub fn files(env: &Environment, named: &[PathBuf]) -> Result<(Vec<PathBuf>, usize), CommandError> {
    let (mut paths, mut found) = (Vec::new(), Vec::new());
    for name in named {
        match env.current.join(env.expand_home(name)).exists() {
            true => paths.extend(of_path(env, name)?),
            false => found.push(by_recipe_name(env, name)?),
        }
    }
    if named.is_empty() {
        let known = recipe_directories(env, &env.current)?;
        let project = known.directories.into_iter().filter(|d| d.origin == Origin::Project);
        let also = ALSO.iter().map(|name| env.current.join(name));
        for directory in project.map(|d| d.path).chain(also) {
            find_test_files(&directory, DEPTH, &mut found);
        }
        find_test_files(&env.current, 1, &mut found);
        found.sort();
    }
    let mut seen = BTreeSet::new();
    let mut first =
        |path: &PathBuf| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone()));
    paths.retain(&mut first);
    found.retain(first);
    let named = paths.len();
    paths.append(&mut found);
    if paths.is_empty() {
        return Err(CommandError::bad_input(
            "no tests found: write NAME.test.yaml beside a recipe, or name a file",
        ));
    }
    Ok((paths, named))
}

fn of_path(env: &Environment, name: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let path = env.current.join(env.expand_home(name));
    if path.is_dir() {
        let mut found = Vec::new();
        find_test_files(&path, DEPTH, &mut found);
        found.sort();
        if found.is_empty() {
            let message = format!("no test file below {}", name.display());
            return Err(CommandError::bad_input(message));
        }
        return Ok(found);
    }
    if is_test_file(&path) { Ok(vec![path]) } else { Ok(vec![beside(env, &path)?]) }
}

/// The test file of a recipe.
fn beside(env: &Environment, recipe: &Path) -> Result<PathBuf, CommandError> {
    let shown = shown_path(recipe, env);
    if !is_recipe_file(recipe) {
        return Err(CommandError::bad_input(format!(
            "{shown} is neither a test file nor a recipe"
        )));
    }
    test_file_of(recipe).map_err(|missing| {
        let missing = shown_path(&missing, env);
        CommandError::bad_input(format!("{shown} has no tests: {missing} does not exist"))
    })
}

fn by_recipe_name(env: &Environment, name: &Path) -> Result<PathBuf, CommandError> {
    let listed = list(&recipe_directories(env, &env.current)?);
    let wanted = name.to_string_lossy();
    if let Some(path) = listed.iter().find(|l| l.name == wanted).and_then(|l| l.path.as_ref()) {
        return beside(env, path);
    }
    let near = nearest(&wanted, listed.iter().map(|l| l.name.as_str()));
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let message = format!("{wanted}: no such file, directory or recipe{hint}");
    Err(CommandError::bad_input(message))
}

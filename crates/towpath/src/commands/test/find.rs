//! Which test files are meant: those a person names, those of the recipes they name, those below
//! the directories they name; without any, those beside the project's recipes.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::search_path::search_path;
use crate::settings::Settings;
use crate::terminal::table::shown_path;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use towpath_core::nearest;
use towpath_recipe::{Origin, SearchPath, list};

const ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];
const RECIPE_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Where tests are looked for beside the places in which recipes have names.
const ALSO: [&str; 3] = ["recipes", "examples", "amplifier-bundle"];
/// Directories of other people's files, often huge.
const SKIPPED: [&str; 2] = ["node_modules", "target"];
const DEPTH: usize = 8;

/// The recipe places of a directory's project, and those the environment names: not the person's
/// own, on which no test may depend.
pub fn places(env: &Environment, directory: &Path) -> Result<SearchPath, CommandError> {
    let settings = Settings::read(env, None)?;
    let mut search = search_path(env, &settings, &[], directory)?;
    search.directories.retain(|d| d.origin != Origin::User && d.path.is_dir());
    Ok(search)
}

/// The test files, absolute, each once.
pub fn files(env: &Environment, named: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut found = Vec::new();
    for name in named {
        found.extend(of_name(env, name)?);
    }
    if named.is_empty() {
        let places = places(env, &env.current)?;
        let project = places.directories.into_iter().filter(|d| d.origin == Origin::Project);
        let also = ALSO.iter().map(|name| env.current.join(name));
        for directory in project.map(|d| d.path).chain(also) {
            below(&directory, DEPTH, &mut found);
        }
        below(&env.current, 1, &mut found);
        found.sort();
    }
    let mut seen = BTreeSet::new();
    found.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    if found.is_empty() {
        return Err(CommandError::bad_input(
            "there are no tests: write NAME.test.yaml beside a recipe, or name a file",
        ));
    }
    Ok(found)
}

fn of_name(env: &Environment, name: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let path = env.current.join(env.expand_home(name));
    if path.is_dir() {
        let mut found = Vec::new();
        below(&path, DEPTH, &mut found);
        found.sort();
        if found.is_empty() {
            let message = format!("there is no test file below {}", name.display());
            return Err(CommandError::bad_input(message));
        }
        return Ok(found);
    }
    if !path.exists() {
        return by_recipe_name(env, name);
    }
    if is_test(&path) { Ok(vec![path]) } else { Ok(vec![beside(env, &path)?]) }
}

fn is_test(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// The test file of a recipe.
fn beside(env: &Environment, recipe: &Path) -> Result<PathBuf, CommandError> {
    let known = recipe.extension().is_some_and(|e| RECIPE_ENDINGS.iter().any(|r| e == *r));
    let shown = shown_path(recipe, env);
    if !known {
        return Err(CommandError::bad_input(format!(
            "{shown} is neither a test file nor a recipe"
        )));
    }
    let stem = recipe.file_stem().unwrap_or_default().to_string_lossy();
    let tests = ENDINGS.map(|ending| recipe.with_file_name(format!("{stem}{ending}")));
    let missing = shown_path(&tests[0], env);
    tests.into_iter().find(|test| test.is_file()).ok_or_else(|| {
        CommandError::bad_input(format!("{shown} has no tests: {missing} is not there"))
    })
}

fn by_recipe_name(env: &Environment, name: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let listed = list(&places(env, &env.current)?);
    let wanted = name.to_string_lossy();
    if let Some(path) = listed.iter().find(|l| l.name == wanted).and_then(|l| l.path.as_ref()) {
        return Ok(vec![beside(env, path)?]);
    }
    let near = nearest(&wanted, listed.iter().map(|l| l.name.as_str()));
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    let message = format!("{wanted}: no such file, directory or recipe{hint}");
    Err(CommandError::bad_input(message))
}

/// Every test file below a directory. What cannot be read has none.
fn below(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let passed = path.is_symlink() || SKIPPED.contains(&name.as_str()) || name == ".git";
            if depth > 1 && !passed {
                below(&path, depth - 1, found);
            }
        } else if is_test(&path) && path.is_file() {
            found.push(path);
        }
    }
}

/// The recipe that a test file without `recipe` is about.
pub fn recipe_beside(test: &Path) -> Option<PathBuf> {
    let name = test.file_name()?.to_str()?;
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let recipes = RECIPE_ENDINGS.map(|ending| test.with_file_name(format!("{stem}.{ending}")));
    recipes.into_iter().find(|recipe| recipe.is_file())
}

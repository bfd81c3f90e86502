//! How test files are named, where they are in a directory, and which recipe each belongs to.

use std::path::{Path, PathBuf};

const ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];
const RECIPE_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// Directories of other people's files, often huge.
const SKIPPED: [&str; 3] = ["node_modules", "target", ".git"];

pub fn is_test_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// Whether a file could be a recipe, by its name.
pub fn is_recipe_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| RECIPE_ENDINGS.iter().any(|ending| e == *ending))
}

/// The test file of a recipe; where there is none, the path that it would have.
pub fn test_file_of(recipe: &Path) -> Result<PathBuf, PathBuf> {
    let stem = recipe.file_stem().unwrap_or_default().to_string_lossy();
    let tests = ENDINGS.map(|ending| recipe.with_file_name(format!("{stem}{ending}")));
    let found = tests.iter().find(|test| test.is_file());
    found.cloned().ok_or_else(|| tests[0].clone())
}

/// The recipe that a test file without `recipe` tests.
pub(crate) fn recipe_of(test: &Path) -> Option<PathBuf> {
    let name = test.file_name()?.to_str()?;
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let recipes = RECIPE_ENDINGS.map(|ending| test.with_file_name(format!("{stem}.{ending}")));
    recipes.into_iter().find(|recipe| recipe.is_file())
}

/// Adds every test file in a directory, `depth` levels deep (1: only its own). A directory that
/// cannot be read has none.
pub fn find_test_files(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let skipped = path.is_symlink() || SKIPPED.contains(&name.as_str());
            if depth > 1 && !skipped {
                find_test_files(&path, depth - 1, found);
            }
        } else if is_test_file(&path) && path.is_file() {
            found.push(path);
        }
    }
}

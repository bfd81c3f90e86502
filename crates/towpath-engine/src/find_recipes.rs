//! Recipes by name, for whoever shows or chooses them. The directories come from the caller
//! ([`SearchPath::given`]); built-in recipes come after them. Nothing is run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use towpath_recipe::{Listed, SearchPath, list};

/// What each name means: of several recipes with a name, the one that is found first.
pub fn discover_recipes(search: &SearchPath) -> BTreeMap<String, Listed> {
    let first = list(search).into_iter().filter(|recipe| !recipe.shadowed);
    first.map(|recipe| (recipe.name.clone(), recipe)).collect()
}

/// What [`discover_recipes`] finds, sorted by name.
pub fn list_recipes(search: &SearchPath) -> Vec<Listed> {
    discover_recipes(search).into_values().collect()
}

/// What a name means. A built-in recipe has no path.
///
/// ```
/// use towpath_engine::{SearchPath, find_recipe};
///
/// let directory = tempfile::tempdir()?;
/// let file = directory.path().join("hello.yaml");
/// std::fs::write(&file, "name: hello\nsteps:\n  - id: greet\n    command: echo hello\n")?;
///
/// let search = SearchPath::given([directory.path()]);
/// let found = find_recipe(&search, "hello").expect("it is there");
/// assert_eq!((found.path, found.steps, found.broken), (Some(file), 1, None));
/// assert!(find_recipe(&search, "no-such-recipe").is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn find_recipe(search: &SearchPath, name: &str) -> Option<Listed> {
    list(search).into_iter().find(|recipe| recipe.name == name && !recipe.shadowed)
}

/// A directory of a search path, as it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedDirectory {
    pub path: PathBuf,
    pub exists: bool,
    /// The recipes in it.
    pub recipes: usize,
    /// Those of them that cannot be read: name, and why.
    pub broken: Vec<(String, String)>,
}

/// Looks which directories of a search path are there, and what is in them.
pub fn verify_installation(search: &SearchPath) -> Vec<SearchedDirectory> {
    let searched = |directory: &towpath_recipe::SearchDir| {
        let alone = SearchPath { directories: vec![directory.clone()], agents: Vec::new() };
        let inside = |recipe: &Listed| recipe.path.as_ref().is_some_and(|p| *p != directory.path);
        let here: Vec<Listed> = list(&alone).into_iter().filter(inside).collect();
        SearchedDirectory {
            path: directory.path.clone(),
            exists: directory.path.is_dir(),
            recipes: here.len(),
            broken: here.into_iter().filter_map(|r| Some((r.name, r.broken?))).collect(),
        }
    };
    search.directories.iter().map(searched).collect()
}

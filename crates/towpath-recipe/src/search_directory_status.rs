//! Which of the directories that recipes are looked for in exist, and how many recipes they have.

use crate::recipe_file::{LIST_DEPTH, names_below};
use crate::recipe_search::{Origin, SearchDir, SearchPath};
use std::path::PathBuf;

/// A directory in which names are looked for, and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub path: PathBuf,
    pub origin: Origin,
    pub exists: bool,
    /// How many recipes can be called by name from it.
    pub recipes: usize,
}

/// Which of the search directories exist and have recipes.
pub fn verify_installation(search: &SearchPath) -> Vec<Installed> {
    let look = |directory: &SearchDir| Installed {
        path: directory.path.clone(),
        origin: directory.origin,
        exists: directory.path.is_dir(),
        recipes: names_below(&directory.path, LIST_DEPTH).map_or(0, |names| names.len()),
    };
    search.directories.iter().map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn directories_show_whether_they_exist() {
        let directory = tempfile::tempdir().unwrap();
        let there = directory.path().join("there");
        fs::create_dir(&there).unwrap();
        fs::write(there.join("a.yaml"), "").unwrap();
        fs::write(there.join("a.test.yaml"), "").unwrap();
        let search_dir = |path: PathBuf| SearchDir { path, origin: Origin::Project };
        let search = SearchPath {
            directories: vec![search_dir(there), search_dir(directory.path().join("gone"))],
            ..SearchPath::default()
        };
        let found = verify_installation(&search);
        assert_eq!((found[0].exists, found[0].recipes), (true, 1));
        assert_eq!((found[1].exists, found[1].recipes), (false, 0));
    }
}

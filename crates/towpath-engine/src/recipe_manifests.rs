//! Directories of recipes over time: what they contain, what changed since, how they differ from
//! upstream's. Files are read and compared; only the manifest is written. Nothing is fetched: upstream is
//! a directory that the caller has.

use std::path::{Path, PathBuf};
use towpath_recipe::directory_manifest::{
    Changes, Compared, MANIFEST_FILE, Manifest, ManifestError, compare,
};

/// Records what a directory of recipes contains, in its `_recipe_manifest.json`; returns that file's path.
pub fn update_manifest(directory: &Path) -> Result<PathBuf, ManifestError> {
    let path = directory.join(MANIFEST_FILE);
    let written = contents(directory)?.write(directory);
    written.map_err(|error| ManifestError::Unreadable(path.clone(), error))?;
    Ok(path)
}

/// What changed in a directory of recipes since its manifest was written.
///
/// ```
/// use towpath_engine::{check_upstream_changes, update_manifest};
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("a.yaml"), "name: a\n")?;
/// update_manifest(directory.path())?;
/// assert!(check_upstream_changes(directory.path())?.is_empty());
///
/// std::fs::write(directory.path().join("a.yaml"), "name: b\n")?;
/// assert_eq!(check_upstream_changes(directory.path())?.modified, ["a.yaml"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check_upstream_changes(directory: &Path) -> Result<Changes, ManifestError> {
    Ok(Manifest::read(directory)?.changes(&contents(directory)?))
}

/// How each recipe differs from the same one in another directory, such as a checkout of the repository
/// that it came from. The manifest shows on which side a change was made. Nothing is changed.
pub fn sync_upstream(
    directory: &Path,
    upstream: &Path,
) -> Result<Vec<(String, Compared)>, ManifestError> {
    let known = match Manifest::read(directory) {
        Err(ManifestError::None(_)) => Manifest::default(),
        read => read?,
    };
    Ok(compare(&contents(directory)?, &contents(upstream)?, &known))
}

fn contents(directory: &Path) -> Result<Manifest, ManifestError> {
    let read = Manifest::of_directory(directory);
    read.map_err(|error| ManifestError::Unreadable(directory.to_owned(), error))
}

//! The project that a file belongs to.

use std::path::{Path, PathBuf};

pub fn is_project(root: &Path) -> bool {
    root.join(".towpath").is_dir() || root.join(".git").exists()
}

/// The nearest directory upward with `.towpath` or `.git`, never above the home directory; else the
/// directory itself.
pub fn project_root(start: &Path, home: Option<&Path>) -> PathBuf {
    for directory in start.ancestors() {
        if is_project(directory) {
            return directory.to_owned();
        }
        if Some(directory) == home {
            break;
        }
    }
    start.to_owned()
}

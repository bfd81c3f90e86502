//! What the tests need from the program that they are part of.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub trait Host: Sync {
    /// The program that runs the recipe of a case: the caller's own.
    fn program(&self) -> &Path;

    /// The environment that a case inherits, but for what would let the user's own files in.
    fn environment(&self) -> &[(OsString, OsString)];

    /// The current directory of the user who runs the tests.
    fn current_directory(&self) -> &Path;

    /// `~/x` with the user's home directory instead of `~`.
    fn expand_home(&self, path: &Path) -> PathBuf;

    /// A path as it is shown to the user.
    fn shown(&self, path: &Path) -> String;

    /// Where the project around a directory has recipes by name, below this home directory (the
    /// user's own when none is given). The user's own recipe directories are not among them: no
    /// test may depend on those.
    fn recipe_directories(
        &self,
        directory: &Path,
        home: Option<&Path>,
    ) -> Result<Vec<PathBuf>, String>;
}

//! Where tools, their recipes and what was downloaded for them are. Names and versions become file
//! names: those that could lead elsewhere are refused before they come here.

use crate::recipe_values::check_tool_name;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDirectories {
    data: PathBuf,
    cache: PathBuf,
    config: PathBuf,
}

impl ToolDirectories {
    pub fn new(data: &Path, cache: &Path, config: &Path) -> ToolDirectories {
        let (data, cache, config) = (data.to_owned(), cache.to_owned(), config.to_owned());
        ToolDirectories { data, cache, config }
    }

    /// One directory for each tool, with one link for each version.
    pub fn tools(&self) -> PathBuf {
        self.data.join("tools")
    }

    pub fn tool(&self, name: &str) -> PathBuf {
        self.tools().join(name)
    }

    /// The link that makes a version visible.
    pub fn version(&self, name: &str, version: &str) -> PathBuf {
        self.tool(name).join(version_directory_name(version))
    }

    /// Where the installs of a tool are built, finished or not.
    pub fn installs(&self, name: &str) -> PathBuf {
        self.tools().join(".installs").join(name)
    }

    /// Lets one installer of a tool work at a time, as long as the file is open: the system releases the
    /// lock of a process that was killed. `waiting` is called if another process has it.
    pub fn lock(&self, name: &str, waiting: impl FnOnce()) -> io::Result<File> {
        // A name becomes a path here.
        check_tool_name(name).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let path = self.tools().join(".locks").join(name);
        let take = || {
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    waiting();
                    file.lock()?;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            Ok(file)
        };
        take().map_err(at(&path))
    }

    /// The directory for the user's PATH.
    pub fn bin(&self) -> PathBuf {
        self.data.join("bin")
    }

    /// What was fetched, for installs without a network.
    pub fn artifacts(&self) -> PathBuf {
        self.cache.join("tools")
    }

    /// The recipes of tools: generated, or the user's own.
    pub fn recipes(&self) -> PathBuf {
        self.config.join("tools")
    }

    pub fn recipe(&self, name: &str) -> PathBuf {
        self.recipes().join(format!("{name}.toml"))
    }
}

/// A version as the name of a directory that may be on PATH: `1:2.3` of Debian becomes `1%3a2.3`.
pub fn version_directory_name(version: &str) -> String {
    version.replace('%', "%25").replace(':', "%3a").replace('/', "%2f")
}

/// The version that a directory is called after.
pub(super) fn version_of_directory(name: &str) -> String {
    name.replace("%2f", "/").replace("%3a", ":").replace("%25", "%")
}

/// An error with the path that it is about.
pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

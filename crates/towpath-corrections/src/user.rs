//! What corrections must know of the user they are for. The program that uses this crate reads the
//! environment and the settings; nothing here does.

use crate::Error;
use crate::host::{Mode, Permission};
use crate::snapshot::Source;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

pub trait User: Debug {
    /// The directory of the journal.
    fn state(&self) -> &Path;
    fn current(&self) -> &Path;
    fn home(&self) -> Option<&Path>;
    fn variables(&self) -> &[(OsString, OsString)];
    fn on_path(&self, program: &str) -> Option<PathBuf>;
    /// The file of this program.
    fn own_program(&self) -> Result<PathBuf, Error>;
    fn project_root(&self, directory: &Path) -> PathBuf;
    fn settings(&self) -> Result<HookSettings, Error>;

    fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables().iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// What the settings choose, and the file that they come from.
#[derive(Debug, Clone)]
pub struct HookSettings {
    pub mode: Mode,
    pub permission: Permission,
    pub source: Source,
}

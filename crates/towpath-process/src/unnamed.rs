//! An output file without a name: nothing of it can be found on the disk once all who have it open
//! are gone, however they went. For output that may hold a secret until it is masked.

use crate::follow::Follow;
use crate::os;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct UnnamedFile {
    file: File,
    path: PathBuf,
}

impl UnnamedFile {
    /// On the file system of `directory`.
    pub fn create(directory: &Path) -> io::Result<UnnamedFile> {
        let (file, path) = os::unnamed_file(directory)?;
        Ok(UnnamedFile { file, path })
    }

    /// For `ChildSpec::stdout` and `stderr`; opens this file as long as `self` lives.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn follow(&self) -> io::Result<Follow> {
        Ok(Follow::new(self.file.try_clone()?))
    }
}

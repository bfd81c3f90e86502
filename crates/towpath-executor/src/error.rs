//! What keeps an executor from running any job. How one job fails is its end, not an error.

use std::io;
use std::path::{Path, PathBuf};
use towpath_process::ProcessError;

#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// A file of a job cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    /// An agent call, and nobody who could answer it.
    #[error("no agent backend was chosen")]
    NoBackend,
    /// The executor is gone, and its jobs with it.
    #[error("what runs the jobs of this run is gone")]
    Gone,
}

/// An error of this file.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> ExecutorError + '_ {
    move |error| ExecutorError::Io { path: path.to_owned(), error }
}

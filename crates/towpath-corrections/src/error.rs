//! Why a file of corrections or the journal cannot be used.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use towpath_core::Diagnostic;
use towpath_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal has something that cannot be read.
    #[error("{0}")]
    State(String),
    #[error("{0}")]
    Setup(String),
    /// A file of ours or of a project cannot be used.
    #[error("{}: {why}", path.display())]
    File { path: PathBuf, why: String },
    /// A file of the user's agent program cannot be used. What is wrong begins with `: ` or a blank.
    #[error("{}{why}", path.display())]
    HostFile { path: PathBuf, why: String },
    /// The path of this program, for a settings file.
    #[error("{} is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    #[error("{0}")]
    BadInput(String),
    /// The problem of a text.
    #[error("{message}")]
    Problems { problems: Vec<Diagnostic>, message: String },
    /// The text of a file of the user's agent program is not what it should be, at this byte.
    #[error("{}: {message}", path.display())]
    Malformed { path: PathBuf, text: String, at: usize, message: String },
}

impl Error {
    pub(crate) fn file<E: Display>(path: &Path) -> impl Fn(E) -> Error {
        let path = path.to_owned();
        move |why| Error::File { path: path.clone(), why: why.to_string() }
    }
}

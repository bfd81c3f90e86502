//! Why an archive was not unpacked. An entry is named by its bytes in readable form, because its name
//! may be the reason.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ArchiveError {
    #[error("`{}`: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("the archive is damaged: {0}")]
    Damaged(String),
    #[error("neither an archive nor a compressed file of a known kind")]
    UnknownKind,
    #[error("the archive is refused: `{entry}` {refusal}")]
    Refused { entry: String, refusal: Refusal },
}

impl ArchiveError {
    pub(super) fn io(path: &Path, error: io::Error) -> ArchiveError {
        ArchiveError::Io { path: path.to_owned(), error }
    }

    /// What goes wrong while bytes are read from an archive is the archive's fault.
    pub(super) fn damaged(error: impl std::fmt::Display) -> ArchiveError {
        ArchiveError::Damaged(error.to_string())
    }

    pub(super) fn refused(entry: &[u8], refusal: Refusal) -> ArchiveError {
        ArchiveError::Refused { entry: entry.escape_ascii().to_string(), refusal }
    }

    /// Why an entry was refused, if that is what happened.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            ArchiveError::Refused { refusal, .. } => Some(refusal),
            _ => None,
        }
    }
}

/// What no archive may contain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("is an absolute path")]
    AbsolutePath,
    #[error("contains `..`")]
    ParentDirectory,
    #[error("is not UTF-8")]
    NotUtf8,
    #[error("contains control characters")]
    ControlCharacter,
    #[error("is too long for a file name")]
    TooLong,
    #[error("is a link that leaves the folder: `{0}`")]
    LinkLeaves(String),
    #[error("is a link to `{0}`, which is not a file before it in the archive")]
    LinkToNoFile(String),
    #[error("is in a directory that is a link or a file")]
    NotInDirectory,
    #[error("is there twice")]
    Duplicate,
    #[error("is a device, a pipe or a socket")]
    SpecialFile,
    #[error("would run with the rights of its owner or group")]
    SetUser,
    #[error("is encrypted")]
    Encrypted,
    #[error("has a kind that is not supported: {0}")]
    Unsupported(&'static str),
    #[error("makes it larger than {0} bytes")]
    TooManyBytes(u64),
    #[error("is one entry more than {0}")]
    TooManyEntries(u64),
}

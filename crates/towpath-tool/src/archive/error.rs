//! Why an archive was not unpacked. An entry is named by its bytes in readable form, because its name
//! may be the reason.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use zip::result::ZipError;

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
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
        let path = path.to_owned();
        move |error| ArchiveError::Io { path, error }
    }

    /// Names the entry that was refused.
    pub(super) fn of_entry(mut self, name: &[u8]) -> ArchiveError {
        if let ArchiveError::Refused { entry, .. } = &mut self {
            *entry = name.escape_ascii().to_string();
        }
        self
    }
}

/// What goes wrong while bytes are read from an archive is the archive's fault.
impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> ArchiveError {
        ArchiveError::Damaged(error.to_string())
    }
}

impl From<ZipError> for ArchiveError {
    fn from(error: ZipError) -> ArchiveError {
        ArchiveError::Damaged(error.to_string())
    }
}

impl From<Refusal> for ArchiveError {
    fn from(refusal: Refusal) -> ArchiveError {
        ArchiveError::Refused { entry: String::new(), refusal }
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

//! What can go wrong with the journal, by what a user can do about it.
//!
//! Every message names the file and the next step. SQLite's codes are translated here and
//! nowhere else; nothing here decides an exit code.

use rusqlite::ffi::{self, ErrorCode};
use std::io;
use std::path::{Path, PathBuf};
use towpath_core::RunId;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    #[error(
        "{} was written by a newer towpath (schema {found}, this one knows {known}); nothing was \
         changed: update towpath, or set TOWPATH_HOME to another directory",
        shown(path)
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{} still has schema {found}, this towpath reads {known}; start any run once to upgrade \
         it (a backup is kept beside it)",
        shown(path)
    )]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error(
        "{} is damaged: {detail}; nothing was changed: move its directory away to start afresh, \
         or rescue what is left with `sqlite3 FILE .recover`",
        shown(path)
    )]
    Damaged { path: PathBuf, detail: String },
    #[error(
        "the record of run {run} is damaged: {detail}; nothing was run or changed: put an undamaged \
         copy of the state directory back, or start the recipe again"
    )]
    DamagedRun { run: RunId, detail: String },
    #[error("the output {} is not as it was recorded; nothing was run or changed", shown(path))]
    ChangedOutput { path: PathBuf },
    #[error("the output {} has {found} of {len} bytes", shown(path))]
    ShortOutput { path: PathBuf, found: u64, len: u64 },
    #[error(
        "the journal has lost what run {run} recorded: its fact {noted} was the last, and {found} are \
         left; nothing was run: put the newer journal back (journal.db and journal.db-wal belong \
         together), or remove `last-fact` in the run's directory to continue from what is left"
    )]
    LostFacts { run: RunId, noted: u32, found: u32 },
    #[error(
        "the journal has no run {run}, and its directory {} is there: the journal was lost or is an \
         older one; put the newer one back (journal.db and journal.db-wal belong together), or remove \
         that directory",
        shown(path)
    )]
    LostRun { run: RunId, path: PathBuf },
    #[error(
        "{} is damaged, which shows how far run {run} had come; nothing was run: remove it if the \
         journal is the newest one",
        shown(path)
    )]
    UnclearEnd { run: RunId, path: PathBuf },
    #[error(
        "another process has taken run {0} over and continues it; this one has stopped and records \
         nothing more"
    )]
    TakenOver(RunId),
    #[error(
        "{} cannot be written: {error}; check the disk, its permissions and quota, or set \
         TOWPATH_HOME to another directory",
        shown(path)
    )]
    Unwritable { path: PathBuf, error: io::Error },
    #[error(
        "no space left to write {}; what was recorded before is kept: free some space",
        shown(path)
    )]
    Full { path: PathBuf },
    #[error(
        "{} was removed or replaced during the run: what the run has recorded is gone with it, and \
         nothing more is started; start the run again",
        shown(path)
    )]
    Gone { path: PathBuf },
    #[error("the journal was locked by another process for too long; try again when it is done")]
    Busy,
    #[error(
        "{} cannot be locked: {detail}; its disk has no locks: set TOWPATH_HOME to a directory on a \
         local disk",
        shown(path)
    )]
    NoLocks { path: PathBuf, detail: String },
    #[error("{} cannot be read: {detail}; check the disk", shown(path))]
    ReadFailed { path: PathBuf, detail: String },
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    #[error("run {run} has no plan {version}")]
    NoSuchPlan { run: RunId, version: u32 },
    #[error("no free run id was found; the source of random ids repeats itself")]
    NoFreeId,
    #[error("`{0}` is no name for an output file: it must stay inside the run's directory")]
    BadOutputName(String),
    #[error("{} cannot be read: {error}", shown(path))]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {detail}", shown(path))]
    Sqlite { path: PathBuf, detail: String },
}

impl StoreError {
    /// A failed write to a file or directory of ours.
    pub(crate) fn writing(path: &Path, error: io::Error) -> StoreError {
        let path = path.to_owned();
        if error.raw_os_error() == Some(ENOLCK) {
            return StoreError::NoLocks { path, detail: error.to_string() };
        }
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            _ => StoreError::Unwritable { path, error },
        }
    }

    pub(crate) fn reading(path: &Path, error: io::Error) -> StoreError {
        StoreError::Io { path: path.to_owned(), error }
    }

    pub(crate) fn damaged(path: &Path, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: path.to_owned(), detail: detail.into() }
    }

    fn sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        use rusqlite::Error as E;
        match error {
            E::SqliteFailure(code, text) => failure(path, code, text),
            // The schema is STRICT: a value of another type or invalid text was not written by us.
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::Utf8Error(..) => StoreError::damaged(path, error.to_string()),
            other => StoreError::Sqlite { path: path.to_owned(), detail: other.to_string() },
        }
    }
}

/// The answer of a disk without locks; the standard library has no name for it.
const ENOLCK: i32 = 37;

/// A failure inside the crate, before it is known which database it was.
#[derive(Debug)]
pub(crate) enum PathlessError {
    Sqlite(rusqlite::Error),
    Known(StoreError),
}

impl PathlessError {
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            PathlessError::Sqlite(error) => StoreError::sqlite(path, error),
            PathlessError::Known(error) => error,
        }
    }
}

impl From<rusqlite::Error> for PathlessError {
    fn from(error: rusqlite::Error) -> PathlessError {
        PathlessError::Sqlite(error)
    }
}

impl From<StoreError> for PathlessError {
    fn from(error: StoreError) -> PathlessError {
        PathlessError::Known(error)
    }
}

fn failure(path: &Path, code: ffi::Error, text: Option<String>) -> StoreError {
    let detail = text.unwrap_or_else(|| code.to_string());
    let path = path.to_owned();
    match code.extended_code {
        ffi::SQLITE_IOERR_LOCK | ffi::SQLITE_IOERR_RDLOCK | ffi::SQLITE_IOERR_SHMLOCK => {
            return StoreError::NoLocks { path, detail };
        }
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_CORRUPTFS => {
            return StoreError::ReadFailed { path, detail };
        }
        _ => {}
    }
    match code.code {
        ErrorCode::DiskFull => StoreError::Full { path },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            StoreError::Damaged { path, detail }
        }
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => StoreError::Busy,
        ErrorCode::ReadOnly
        | ErrorCode::CannotOpen
        | ErrorCode::PermissionDenied
        | ErrorCode::SystemIoFailure => {
            StoreError::Unwritable { path, error: io::Error::other(detail) }
        }
        _ => StoreError::Sqlite { path, detail },
    }
}

/// A path for a message: as it is when it is plain text, else with its odd bytes escaped.
pub(crate) fn shown(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.chars().any(char::is_control) => text.to_owned(),
        Some(text) => text.escape_debug().to_string(),
        None => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    }
}

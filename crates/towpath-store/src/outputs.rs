//! What a job printed: in the fact's row when it is small, else in a file of the run's directory.
//!
//! A file is on disk, with its name, before a fact may name it. A small output keeps its file
//! until the fact with its bytes is committed, so that a full disk loses nothing.

use crate::StoreError;
use crate::chain::{Sum, sum_of_bytes, sum_of_reader};
use crate::private_files::sync_directory;
use rusqlite::Row;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::{Component, Path, PathBuf};
pub use towpath_core::Stream;

/// Outputs up to this many bytes live in the row.
pub const INLINE_LIMIT: u64 = 64 * 1024;

/// An output on its way into the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputRef {
    /// Kept in the row. `file` is where it was collected, relative to the run's directory: it is
    /// removed once the row is committed.
    Inline { bytes: Vec<u8>, file: Option<String> },
    /// Kept in a file, relative to the run's directory, that [`settle_output`] has synced.
    File { name: String, len: u64, sum: Option<Sum> },
}

impl OutputRef {
    /// Bytes that were never in a file, such as an agent's answer.
    pub fn inline(bytes: impl Into<Vec<u8>>) -> OutputRef {
        OutputRef::Inline { bytes: bytes.into(), file: None }
    }

    pub fn len(&self) -> u64 {
        match self {
            OutputRef::Inline { bytes, .. } => bytes.len() as u64,
            OutputRef::File { len, .. } => *len,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            OutputRef::Inline { bytes, .. } => Some(bytes),
            OutputRef::File { .. } => None,
        }
    }

    pub(crate) fn sum(&self) -> Option<Sum> {
        match self {
            OutputRef::Inline { bytes, .. } => Some(sum_of_bytes(bytes)),
            OutputRef::File { sum, .. } => *sum,
        }
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self {
            OutputRef::Inline { file: Some(name), .. } | OutputRef::File { name, .. } => {
                output_path(Path::new(""), name).map(drop)
            }
            OutputRef::Inline { file: None, .. } => Ok(()),
        }
    }

    pub(crate) fn file_name(&self) -> Option<&str> {
        match self {
            OutputRef::Inline { .. } => None,
            OutputRef::File { name, .. } => Some(name),
        }
    }

    /// After the commit the row is what counts; a leftover file would only take space, so that a
    /// failure to remove it is no failure of the record.
    pub(crate) fn remove_collected(&self, run_dir: &Path) {
        if let OutputRef::Inline { file: Some(name), .. } = self
            && let Ok(path) = output_path(run_dir, name)
        {
            let _ = fs::remove_file(path);
        }
    }
}

/// An output as the record knows it. A file without a sum was recorded before there were sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredOutput {
    /// In the row; `bytes` where the question asked for them.
    Inline { len: u64, bytes: Option<Vec<u8>> },
    /// In a file, relative to the run's directory.
    File { name: String, len: u64, sum: Option<Sum> },
}

impl StoredOutput {
    /// From the columns length, file and sum, and, when `bytes` is given, the bytes.
    pub(crate) fn from_row(
        row: &Row<'_>,
        first: usize,
        bytes: Option<usize>,
    ) -> rusqlite::Result<Option<StoredOutput>> {
        let Some(len) = row.get::<_, Option<i64>>(first)? else { return Ok(None) };
        let len = len.unsigned_abs();
        if let Some(name) = row.get(first + 1)? {
            return Ok(Some(StoredOutput::File { name, len, sum: row.get(first + 2)? }));
        }
        let bytes = bytes.map(|column| row.get(column)).transpose()?;
        Ok(Some(StoredOutput::Inline { len, bytes }))
    }

    pub fn len(&self) -> u64 {
        match self {
            StoredOutput::Inline { len, .. } | StoredOutput::File { len, .. } => *len,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reads an output's file as it was recorded: what was written to it later is left out, and changed
/// bytes are refused.
pub fn read_output(path: &Path, len: u64, sum: Option<Sum>) -> Result<Vec<u8>, StoreError> {
    let reading = |error| StoreError::reading(path, error);
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(len).read_to_end(&mut bytes)).map_err(reading)?;
    match sum.is_none_or(|sum| sum_of_bytes(&bytes) == sum) {
        true => Ok(bytes),
        false => Err(StoreError::ChangedOutput { path: path.to_owned() }),
    }
}

/// Refuses a file whose bytes are not those that were recorded.
pub(crate) fn compare_file(path: &Path, len: u64, sum: Option<Sum>) -> Result<(), StoreError> {
    let found = File::open(path).and_then(|file| sum_of_reader(file.take(len)));
    match found.map_err(|error| StoreError::reading(path, error))? {
        (_, found) if found < len => Err(StoreError::ShortOutput { path: path.into(), found, len }),
        (found, _) if sum.is_some_and(|sum| sum != found) => {
            Err(StoreError::ChangedOutput { path: path.into() })
        }
        _ => Ok(()),
    }
}

/// Where the output `name` lies; refused unless it is a plain path below `run_dir`.
pub(crate) fn output_path(run_dir: &Path, name: &str) -> Result<PathBuf, StoreError> {
    let mut parts = Path::new(name).components();
    let plain = !name.contains('\0') && parts.all(|part| matches!(part, Component::Normal(_)));
    match plain && !name.is_empty() {
        true => Ok(run_dir.join(name)),
        false => Err(StoreError::BadOutputName(name.to_owned())),
    }
}

/// Takes a finished job's output file into the record: small ones are read (their file goes with
/// the commit), larger ones are synced together with the directories that lead to them. `None`
/// when there is no such file. Call it when the job has ended: what is written later is not kept.
pub fn settle_output(run_dir: &Path, name: &str) -> Result<Option<OutputRef>, StoreError> {
    let path = output_path(run_dir, name)?;
    let reading = |error| StoreError::reading(&path, error);
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(reading(error)),
        // A pipe would block and a link could lead anywhere.
        Ok(found) if !found.is_file() => {
            return Err(reading(io::Error::other("it is not a regular file")));
        }
        Ok(_) => {}
    }
    let file = File::open(&path).map_err(reading)?;
    let mut bytes = Vec::new();
    // One byte more than the limit distinguishes a larger file from one that just fits, even while a
    // leftover child still writes to it.
    (&file).take(INLINE_LIMIT + 1).read_to_end(&mut bytes).map_err(reading)?;
    if bytes.len() as u64 <= INLINE_LIMIT {
        return Ok(Some(OutputRef::Inline { bytes, file: Some(name.to_owned()) }));
    }
    // As much as there is now: a leftover child may write more.
    let len = file.metadata().map_err(reading)?.len();
    let mut whole = &file;
    whole.rewind().map_err(reading)?;
    let (sum, len) = sum_of_reader(whole.take(len)).map_err(reading)?;
    file.sync_all().map_err(|error| StoreError::writing(&path, error))?;
    for dir in path.ancestors().skip(1) {
        sync_directory(dir)?;
        // The run's directory itself is named by its parent, which is the last one to sync.
        if run_dir.parent() == Some(dir) || dir.as_os_str().is_empty() {
            break;
        }
    }
    Ok(Some(OutputRef::File { name: name.to_owned(), len, sum: Some(sum) }))
}

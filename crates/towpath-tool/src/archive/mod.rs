//! Archives of foreign origin, unpacked so that nothing is ever written outside of the destination.
//!
//! Names that are absolute or contain `..`, links that leave the folder, devices, setuid bits,
//! duplicates, and more bytes or entries than the limits allow are refused, not repaired: an archive
//! with one of these was made wrongly or with intent. A refused archive leaves nothing behind.
//! Owners, times and extended attributes are not restored.

mod archive_kind;
mod error;
mod tree_writer;
mod unpack_tar;
mod unpack_zip;
mod zstd_frames;

pub use archive_kind::{ArchiveKind, Compression};
pub use error::{ArchiveError, Refusal};
pub use tree_writer::UnpackedFile;

use crate::file_hash::fleeting_directory;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use tree_writer::{Entry, TreeWriter};

/// What an archive may become at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Of all files together.
    pub bytes: u64,
    /// Files, directories and links together.
    pub entries: u64,
}

impl Default for ArchiveLimits {
    fn default() -> ArchiveLimits {
        ArchiveLimits { bytes: 4 << 30, entries: 300_000 }
    }
}

/// Unpacks `file`, whose name is `name`, as the directory `destination`, which must not exist yet. The
/// first `strip` directories of every path are left out. Returns the files in the order of their paths.
///
/// One compressed file becomes one file with the name that is left without the suffix.
pub fn unpack(
    file: &Path,
    name: &str,
    destination: &Path,
    strip: u32,
    limits: &ArchiveLimits,
) -> Result<Vec<UnpackedFile>, ArchiveError> {
    let beside = destination.parent().unwrap_or(destination);
    let partial = fleeting_directory(beside).map_err(ArchiveError::io(beside))?;
    let kind = ArchiveKind::of(file, name)?;
    let mut writer = TreeWriter::new(partial.path(), strip, *limits);
    match kind {
        ArchiveKind::Tar(compression) => {
            unpack_tar::unpack(compression.reader(open(file)?), &mut writer)?;
        }
        ArchiveKind::Zip => unpack_zip::unpack(open(file)?, &mut writer)?,
        ArchiveKind::Compressed(compression) => {
            let content = &mut compression.reader(open(file)?);
            writer.strip = 0;
            let name = compression.without_suffix(name);
            writer.add(name.as_bytes(), Entry::File { mode: 0o755, content })?;
        }
    }
    let files = writer.finish()?;
    // A rename would replace an empty directory without a word.
    let renamed = match destination.symlink_metadata() {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(partial.path(), destination),
    };
    renamed.map_err(ArchiveError::io(destination))?;
    Ok(files)
}

fn open(file: &Path) -> Result<File, ArchiveError> {
    File::open(file).map_err(ArchiveError::io(file))
}

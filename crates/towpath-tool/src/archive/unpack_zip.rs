//! The entries of a zip, as its central directory lists them.

use super::ArchiveLimits;
use super::entry_path::EntryPath;
use super::error::{ArchiveError, Refusal};
use super::tree_writer::TreeWriter;
use std::fs::File;
use std::io::{BufReader, Read as _};
use zip::ZipArchive;
use zip::read::ZipFile;

/// The type of a file in the mode that Unix stores.
const TYPE: u32 = 0o170_000;
const SYMLINK: u32 = 0o120_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

const LONGEST_TARGET: u64 = 4096;

pub(super) fn unpack(
    file: File,
    strip: u32,
    limits: &ArchiveLimits,
    writer: &mut TreeWriter<'_>,
) -> Result<(), ArchiveError> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(ArchiveError::damaged)?;
    if archive.len() as u64 > limits.entries {
        return Err(ArchiveError::refused(b"", Refusal::TooManyEntries(limits.entries)));
    }
    // The library keeps the last of two entries with one name.
    if archive.has_duplicate_names() {
        return Err(ArchiveError::refused(b"", Refusal::Duplicate));
    }
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index).map_err(ArchiveError::damaged)?;
        if raw.encrypted() {
            return Err(ArchiveError::refused(raw.name_raw(), Refusal::Encrypted));
        }
        drop(raw);
        let mut entry = archive.by_index(index).map_err(ArchiveError::damaged)?;
        unpack_entry(&mut entry, strip, writer)?;
    }
    Ok(())
}

fn unpack_entry(
    entry: &mut ZipFile<'_, BufReader<File>>,
    strip: u32,
    writer: &mut TreeWriter<'_>,
) -> Result<(), ArchiveError> {
    let name = entry.name_raw().to_vec();
    let refuse = |refusal| Err(ArchiveError::refused(&name, refusal));
    let Some(path) = EntryPath::parse(&name, strip)? else { return Ok(()) };
    // As it is stored: the library masks what is refused here. Zero if it was not made on Unix.
    let mode = entry.external_attributes() >> 16;
    let is_directory = name.ends_with(b"/");
    match mode & TYPE {
        SYMLINK => {
            let mut target = Vec::new();
            let read = entry.take(LONGEST_TARGET).read_to_end(&mut target);
            read.map_err(ArchiveError::damaged)?;
            writer.symlink(&path, &target)
        }
        0 | DIRECTORY if is_directory => writer.directory(&path),
        0 | REGULAR if !is_directory => match mode & 0o6000 {
            0 => writer.file(&path, mode & 0o111 != 0, entry),
            _ => refuse(Refusal::SetUser),
        },
        REGULAR | DIRECTORY => refuse(Refusal::Unsupported("a directory and a file")),
        _ => refuse(Refusal::SpecialFile),
    }
}

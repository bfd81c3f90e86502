//! The entries of a zip, as its central directory lists them.

use super::error::{ArchiveError, Refusal};
use super::tree_writer::{Entry, TreeWriter};
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

pub(super) fn unpack(file: File, writer: &mut TreeWriter<'_>) -> Result<(), ArchiveError> {
    let mut archive = ZipArchive::new(BufReader::new(file))?;
    if archive.len() as u64 > writer.limits.entries {
        return Err(Refusal::TooManyEntries(writer.limits.entries).into());
    }
    // The library keeps the last of two entries with one name.
    if archive.has_duplicate_names() {
        return Err(Refusal::Duplicate.into());
    }
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index)?;
        let (name, encrypted) = (raw.name_raw().to_vec(), raw.encrypted());
        drop(raw);
        if encrypted {
            return Err(ArchiveError::from(Refusal::Encrypted).of_entry(&name));
        }
        let mut file = archive.by_index(index)?;
        writer.add(&name, read_entry(&name, &mut file)?)?;
    }
    Ok(())
}

fn read_entry<'e>(
    name: &[u8],
    file: &'e mut ZipFile<'_, BufReader<File>>,
) -> Result<Entry<'e>, ArchiveError> {
    // As it is stored: the library masks what is refused here. Zero if it was not made on Unix.
    let mode = file.external_attributes() >> 16;
    let is_directory = name.ends_with(b"/");
    Ok(match mode & TYPE {
        SYMLINK => {
            let mut target = Vec::new();
            file.take(LONGEST_TARGET).read_to_end(&mut target)?;
            Entry::Symlink(target)
        }
        0 | DIRECTORY if is_directory => Entry::Directory,
        0 | REGULAR if !is_directory => Entry::File { mode, content: file },
        REGULAR | DIRECTORY => Entry::Refused(Refusal::Unsupported("a directory and a file")),
        _ => Entry::Refused(Refusal::SpecialFile),
    })
}

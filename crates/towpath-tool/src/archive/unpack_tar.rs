//! The entries of a tar. Long names are read here and not by the library, which would take one of any
//! length into memory; what makes two readers see two different archives is refused.

use super::ArchiveLimits;
use super::entry_path::EntryPath;
use super::error::{ArchiveError, Refusal};
use super::tree_writer::TreeWriter;
use std::borrow::Cow;
use std::io::{self, Read};
use tar::{Archive, Entry, EntryType, PaxExtensions};

/// More than any path, link and comment together.
const LONGEST_EXTENSION: u64 = 1 << 20;
/// A tar's headers and the padding of one entry.
const BYTES_BESIDE_CONTENT: u64 = 4096;

/// What extension headers set for the entry after them.
#[derive(Default)]
struct Extensions {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

pub(super) fn unpack(
    reader: impl Read,
    strip: u32,
    limits: &ArchiveLimits,
    writer: &mut TreeWriter<'_>,
) -> Result<(), ArchiveError> {
    let most = limits.bytes.saturating_add(limits.entries.saturating_mul(BYTES_BESIDE_CONTENT));
    let mut archive = Archive::new(reader.take(most));
    let mut extensions = Extensions::default();
    let mut seen: u64 = 0;
    for entry in archive.entries().map_err(ArchiveError::damaged)?.raw(true) {
        let mut entry = entry.map_err(ArchiveError::damaged)?;
        seen += 1;
        if seen > limits.entries {
            let refusal = Refusal::TooManyEntries(limits.entries);
            return Err(ArchiveError::refused(&entry.path_bytes(), refusal));
        }
        if !extensions.read(&mut entry)? {
            unpack_entry(&mut entry, std::mem::take(&mut extensions), strip, writer)?;
        }
    }
    // What follows the end is read as well: the checksum of a compressed file comes last.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(ArchiveError::damaged)?;
    match rest.limit() {
        0 => Err(ArchiveError::refused(b"", Refusal::TooManyBytes(limits.bytes))),
        _ => Ok(()),
    }
}

fn unpack_entry(
    entry: &mut Entry<'_, impl Read>,
    extensions: Extensions,
    strip: u32,
    writer: &mut TreeWriter<'_>,
) -> Result<(), ArchiveError> {
    let name = extensions.path.unwrap_or_else(|| entry.path_bytes().into_owned());
    let refuse = |refusal| Err(ArchiveError::refused(&name, refusal));
    if extensions.sparse {
        return refuse(Refusal::Unsupported("a sparse file"));
    }
    if extensions.size.is_some_and(|size| size != entry.size()) {
        return refuse(Refusal::Unsupported("two different sizes"));
    }
    let mode = entry.header().mode().map_err(ArchiveError::damaged)?;
    let link = extensions.link.or_else(|| entry.link_name_bytes().map(Cow::into_owned));
    let Some(path) = EntryPath::parse(&name, strip)? else { return Ok(()) };
    match entry.header().entry_type() {
        EntryType::Directory => writer.directory(&path),
        EntryType::Regular | EntryType::Continuous if name.ends_with(b"/") => {
            writer.directory(&path)
        }
        EntryType::Regular | EntryType::Continuous => match mode & 0o6000 {
            0 => writer.file(&path, mode & 0o111 != 0, entry),
            _ => refuse(Refusal::SetUser),
        },
        EntryType::Symlink => writer.symlink(&path, &link.unwrap_or_default()),
        EntryType::Link => {
            let link = link.unwrap_or_default();
            match EntryPath::parse(&link, strip) {
                Ok(Some(target)) => writer.hard_link(&path, &target),
                Ok(None) => refuse(Refusal::LinkToNoFile(link.escape_ascii().to_string())),
                Err(_) => refuse(Refusal::LinkLeaves(link.escape_ascii().to_string())),
            }
        }
        EntryType::Char | EntryType::Block | EntryType::Fifo => refuse(Refusal::SpecialFile),
        EntryType::GNUSparse => refuse(Refusal::Unsupported("a sparse file")),
        _ => refuse(Refusal::Unsupported("an unknown type")),
    }
}

impl Extensions {
    /// Reads an extension header; false if the entry is none.
    fn read(&mut self, entry: &mut Entry<'_, impl Read>) -> Result<bool, ArchiveError> {
        match entry.header().entry_type() {
            EntryType::GNULongName => self.path = Some(without_nul(content(entry)?)),
            EntryType::GNULongLink => self.link = Some(without_nul(content(entry)?)),
            EntryType::XHeader => self.read_pax(&content(entry)?)?,
            EntryType::XGlobalHeader => {
                let mut global = Extensions::default();
                global.read_pax(&content(entry)?)?;
                if global.path.is_some() || global.link.is_some() || global.size.is_some() {
                    let refusal = Refusal::Unsupported("one name for all entries");
                    return Err(ArchiveError::refused(&entry.path_bytes(), refusal));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_pax(&mut self, records: &[u8]) -> Result<(), ArchiveError> {
        for record in PaxExtensions::new(records) {
            let record = record.map_err(ArchiveError::damaged)?;
            match record.key_bytes() {
                b"path" => self.path = Some(record.value_bytes().to_vec()),
                b"linkpath" => self.link = Some(record.value_bytes().to_vec()),
                b"size" => {
                    let size = record.value().ok().and_then(|size| size.parse().ok());
                    self.size = Some(size.ok_or_else(|| ArchiveError::damaged("a size"))?);
                }
                key => self.sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }
}

fn content(entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, ArchiveError> {
    if entry.size() > LONGEST_EXTENSION {
        return Err(ArchiveError::refused(&entry.path_bytes(), Refusal::TooLong));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(ArchiveError::damaged)?;
    Ok(bytes)
}

fn without_nul(mut name: Vec<u8>) -> Vec<u8> {
    while name.last() == Some(&0) {
        name.pop();
    }
    name
}

//! The entries of a tar. Long names are read here and not by the library, which would take one of any
//! length into memory; what makes two readers see two different archives is refused.

use super::error::{ArchiveError, Refusal};
use super::tree_writer::{Entry, TreeWriter};
use std::borrow::Cow;
use std::io::{self, Read};
use tar::{Archive, EntryType, PaxExtensions};

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

pub(super) fn unpack(reader: impl Read, writer: &mut TreeWriter<'_>) -> Result<(), ArchiveError> {
    let limits = writer.limits;
    let most = limits.bytes.saturating_add(limits.entries.saturating_mul(BYTES_BESIDE_CONTENT));
    let mut archive = Archive::new(reader.take(most));
    let mut extensions = Extensions::default();
    for (number, entry) in (1..).zip(archive.entries()?.raw(true)) {
        let mut entry = entry?;
        let name = entry.path_bytes().into_owned();
        if number > limits.entries {
            let refusal = Refusal::TooManyEntries(limits.entries);
            return Err(ArchiveError::from(refusal).of_entry(&name));
        }
        if !extensions.read(&mut entry).map_err(|error| error.of_entry(&name))? {
            let mut extensions = std::mem::take(&mut extensions);
            let name = extensions.path.take().unwrap_or(name);
            writer.add(&name, extensions.entry(&name, &mut entry)?)?;
        }
    }
    // What follows the end is read as well: the checksum of a compressed file comes last.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink())?;
    match rest.limit() {
        0 => Err(Refusal::TooManyBytes(limits.bytes).into()),
        _ => Ok(()),
    }
}

impl Extensions {
    /// The entry after the headers.
    fn entry<'e, R: Read>(
        self,
        name: &[u8],
        entry: &'e mut tar::Entry<'_, R>,
    ) -> Result<Entry<'e>, ArchiveError> {
        let mode = entry.header().mode()?;
        let link = self.link.or_else(|| entry.link_name_bytes().map(Cow::into_owned));
        let link = link.unwrap_or_default();
        let unsupported = |what| Entry::Refused(Refusal::Unsupported(what));
        Ok(match entry.header().entry_type() {
            EntryType::GNUSparse => unsupported("a sparse file"),
            _ if self.sparse => unsupported("a sparse file"),
            _ if self.size.is_some_and(|size| size != entry.size()) => {
                unsupported("two different sizes")
            }
            EntryType::Directory => Entry::Directory,
            EntryType::Regular | EntryType::Continuous if name.ends_with(b"/") => Entry::Directory,
            EntryType::Regular | EntryType::Continuous => Entry::File { mode, content: entry },
            EntryType::Symlink => Entry::Symlink(link),
            EntryType::Link => Entry::HardLink(link),
            EntryType::Char | EntryType::Block | EntryType::Fifo => {
                Entry::Refused(Refusal::SpecialFile)
            }
            _ => unsupported("an unknown type"),
        })
    }

    /// Reads an extension header; false if the entry is none.
    fn read<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>) -> Result<bool, ArchiveError> {
        match entry.header().entry_type() {
            EntryType::GNULongName => self.path = Some(without_nul(content(entry)?)),
            EntryType::GNULongLink => self.link = Some(without_nul(content(entry)?)),
            EntryType::XHeader => self.read_pax(&content(entry)?)?,
            EntryType::XGlobalHeader => {
                let mut global = Extensions::default();
                global.read_pax(&content(entry)?)?;
                if global.path.is_some() || global.link.is_some() || global.size.is_some() {
                    return Err(Refusal::Unsupported("one name for all entries").into());
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_pax(&mut self, records: &[u8]) -> Result<(), ArchiveError> {
        for record in PaxExtensions::new(records) {
            let record = record?;
            match record.key_bytes() {
                b"path" => self.path = Some(record.value_bytes().to_vec()),
                b"linkpath" => self.link = Some(record.value_bytes().to_vec()),
                b"size" => {
                    let size = record.value().ok().and_then(|size| size.parse().ok());
                    self.size = Some(size.ok_or_else(|| io::Error::other("a size"))?);
                }
                key => self.sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }
}

fn content(entry: &mut tar::Entry<'_, impl Read>) -> Result<Vec<u8>, ArchiveError> {
    if entry.size() > LONGEST_EXTENSION {
        return Err(Refusal::TooLong.into());
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn without_nul(mut name: Vec<u8>) -> Vec<u8> {
    while name.last() == Some(&0) {
        name.pop();
    }
    name
}

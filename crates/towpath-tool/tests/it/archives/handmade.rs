//! Archives byte by byte: what no honest program writes.

use tar::{EntryType, Header};

/// One entry of an archive to be made.
#[derive(Debug, Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    pub kind: EntryType,
    pub link: Vec<u8>,
    pub mode: u32,
    pub content: Vec<u8>,
}

impl Entry {
    pub fn new(kind: EntryType, name: &[u8]) -> Entry {
        let mode = if kind == EntryType::Directory { 0o755 } else { 0o644 };
        Entry { name: name.to_vec(), kind, link: Vec::new(), mode, content: Vec::new() }
    }

    pub fn file(name: &[u8], content: &[u8]) -> Entry {
        Entry { content: content.to_vec(), ..Entry::new(EntryType::Regular, name) }
    }

    pub fn link(kind: EntryType, name: &[u8], target: &[u8]) -> Entry {
        Entry { link: target.to_vec(), ..Entry::new(kind, name) }
    }

    pub fn with_mode(self, mode: u32) -> Entry {
        Entry { mode, ..self }
    }
}

/// A tar with its end; names of at most 100 bytes, as they are.
pub fn tar_of(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..entry.name.len()].copy_from_slice(&entry.name);
        header.as_old_mut().linkname[..entry.link.len()].copy_from_slice(&entry.link);
        header.set_entry_type(entry.kind);
        header.set_mode(entry.mode);
        header.set_size(entry.content.len() as u64);
        header.set_cksum();
        bytes.extend(header.as_bytes());
        bytes.extend(&entry.content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

/// A zip of stored entries. A link's content is its target; hard links do not exist.
pub fn zip_of(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let (file_type, content) = match entry.kind {
            EntryType::Symlink => (0o120_000, &entry.link),
            EntryType::Directory => (0o040_000, &entry.content),
            EntryType::Char => (0o020_000, &entry.content),
            EntryType::Fifo => (0o010_000, &entry.content),
            _ => (0o100_000, &entry.content),
        };
        let offset = bytes.len() as u32;
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let size = content.len() as u32;
        let mut common = Vec::new();
        for number in [20_u16, 0x800, 0, 0, 0x21] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc.sum(), size, size] {
            common.extend(number.to_le_bytes());
        }
        common.extend((entry.name.len() as u16).to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(&entry.name);
        bytes.extend(content);
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend(((file_type | entry.mode) << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(&entry.name);
    }
    let start = bytes.len() as u32;
    let size = directory.len() as u32;
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

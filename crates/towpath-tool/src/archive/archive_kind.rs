//! What a downloaded file is, by its first bytes. The name decides only what the bytes cannot: whether
//! a compressed file is an archive, when it is an old tar without a signature.

use super::decompress::decompressed;
use super::error::ArchiveError;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveKind {
    Tar(Compression),
    Zip,
    /// One file, compressed.
    Compressed(Compression),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    None,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

/// Signature, and the suffixes of compressed files and of compressed tars.
const COMPRESSIONS: &[(Compression, &[u8], &str, &[&str])] = &[
    (Compression::Gzip, b"\x1f\x8b", ".gz", &[".tgz", ".tar.gz"]),
    (Compression::Bzip2, b"BZh", ".bz2", &[".tbz", ".tbz2", ".tar.bz2"]),
    (Compression::Xz, b"\xfd7zXZ\0", ".xz", &[".txz", ".tar.xz"]),
    (Compression::Zstd, b"\x28\xb5\x2f\xfd", ".zst", &[".tzst", ".tar.zst"]),
];

/// Where a tar has its signature, which old ones lack.
const TAR_SIGNATURE: std::ops::Range<usize> = 257..262;

impl ArchiveKind {
    pub fn of(file: &Path, name: &str) -> Result<ArchiveKind, ArchiveError> {
        let io = |error| ArchiveError::io(file, error);
        let head = head_of(File::open(file).map_err(io)?).map_err(io)?;
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            return Ok(ArchiveKind::Zip);
        }
        let lower = name.to_ascii_lowercase();
        let row = COMPRESSIONS.iter().find(|(_, signature, ..)| head.starts_with(signature));
        let Some((compression, _, _, tars)) = row else {
            let is_tar = has_tar_signature(&head) || lower.ends_with(".tar");
            return if is_tar {
                Ok(ArchiveKind::Tar(Compression::None))
            } else {
                Err(ArchiveError::UnknownKind)
            };
        };
        let reader = BufReader::new(File::open(file).map_err(io)?);
        let inner = head_of(decompressed(*compression, reader)?).map_err(ArchiveError::damaged)?;
        let is_tar = has_tar_signature(&inner) || tars.iter().any(|suffix| lower.ends_with(suffix));
        Ok(if is_tar {
            ArchiveKind::Tar(*compression)
        } else {
            ArchiveKind::Compressed(*compression)
        })
    }
}

impl Compression {
    /// The name of the file inside.
    pub fn without_suffix(self, name: &str) -> &str {
        let row = COMPRESSIONS.iter().find(|(compression, ..)| *compression == self);
        row.and_then(|(_, _, suffix, _)| name.strip_suffix(suffix)).unwrap_or(name)
    }
}

fn has_tar_signature(head: &[u8]) -> bool {
    head.get(TAR_SIGNATURE) == Some(b"ustar")
}

fn head_of(reader: impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(512).read_to_end(&mut head)?;
    Ok(head)
}

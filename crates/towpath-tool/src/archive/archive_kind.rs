//! What a downloaded file is, by its first bytes. The name decides only what the bytes cannot: whether
//! a compressed file is an archive, when it is an old tar without a signature.

use super::error::ArchiveError;
use super::open;
use super::zstd_frames::ZstdFrames;
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{self, BufReader, Read};
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

/// As much as `xz -9` needs, and some more: a header of a few bytes can demand a dictionary of
/// gigabytes.
const XZ_MEMORY_KIB: u32 = 128 << 10;

impl ArchiveKind {
    pub fn of(file: &Path, name: &str) -> Result<ArchiveKind, ArchiveError> {
        let head = head_of(open(file)?).map_err(ArchiveError::io(file))?;
        if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
            return Ok(ArchiveKind::Zip);
        }
        let name = name.to_ascii_lowercase();
        let is_tar = |head: &[u8], suffixes: &[&str]| {
            head.get(TAR_SIGNATURE) == Some(b"ustar")
                || suffixes.iter().any(|suffix| name.ends_with(suffix))
        };
        let row = COMPRESSIONS.iter().find(|(_, signature, ..)| head.starts_with(signature));
        let Some((compression, _, _, tars)) = row else {
            let tar = is_tar(&head, &[".tar"]).then_some(ArchiveKind::Tar(Compression::None));
            return tar.ok_or(ArchiveError::UnknownKind);
        };
        let inner = head_of(compression.reader(open(file)?))?;
        Ok(match is_tar(&inner, tars) {
            true => ArchiveKind::Tar(*compression),
            false => ArchiveKind::Compressed(*compression),
        })
    }
}

impl Compression {
    pub(super) fn reader<'r>(self, file: impl Read + 'r) -> Box<dyn Read + 'r> {
        let file = BufReader::new(file);
        match self {
            Compression::None => Box::new(file),
            Compression::Gzip => Box::new(MultiGzDecoder::new(file)),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(file)),
            Compression::Xz => Box::new(XzReader::new_mem_limit(file, true, XZ_MEMORY_KIB)),
            Compression::Zstd => Box::new(ZstdFrames::new(file)),
        }
    }

    /// The name of the file inside.
    pub fn without_suffix(self, name: &str) -> &str {
        let row = COMPRESSIONS.iter().find(|(compression, ..)| *compression == self);
        row.and_then(|(_, _, suffix, _)| name.strip_suffix(suffix)).unwrap_or(name)
    }
}

fn head_of(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(512).read_to_end(&mut head)?;
    Ok(head)
}

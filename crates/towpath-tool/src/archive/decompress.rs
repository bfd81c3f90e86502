//! The readers of compressed files. What a file asks for in memory is limited: a header of a few bytes
//! can demand a dictionary of gigabytes.

use super::archive_kind::Compression;
use super::error::ArchiveError;
use super::zstd_frames::ZstdFrames;
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::Read;

/// As much as `xz -9` needs, and some more.
const XZ_MEMORY_KIB: u32 = 128 << 10;

pub(super) fn decompressed<'r>(
    compression: Compression,
    reader: impl Read + 'r,
) -> Result<Box<dyn Read + 'r>, ArchiveError> {
    Ok(match compression {
        Compression::None => Box::new(reader),
        Compression::Gzip => Box::new(MultiGzDecoder::new(reader)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(reader)),
        Compression::Xz => Box::new(XzReader::new_mem_limit(reader, true, XZ_MEMORY_KIB)),
        Compression::Zstd => Box::new(ZstdFrames::new(reader)),
    })
}

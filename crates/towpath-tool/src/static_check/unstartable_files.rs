//! Files that no kernel starts: archives that were never unpacked, programs of other systems, and text
//! without a `#!` line, which a shell would run line by line.

/// Where the bytes are, what they are, and what such a file is called.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x1f\x8b", "gzip data"),
    (0, b"PK\x03\x04", "zip archive"),
    (0, b"PK\x05\x06", "zip archive"),
    (0, b"\xfd7zXZ\x00", "xz data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (0, b"!<arch>\n", "ar archive"),
    (257, b"ustar", "tar archive"),
    (0, b"\xed\xab\xee\xdb", "rpm archive"),
    (0, b"\xfe\xed\xfa\xce", "mach-o"),
    (0, b"\xfe\xed\xfa\xcf", "mach-o"),
    (0, b"\xce\xfa\xed\xfe", "mach-o"),
    (0, b"\xcf\xfa\xed\xfe", "mach-o"),
    (0, b"\xca\xfe\xba\xbe", "mach-o or Java class data"),
    (0, b"MZ", "pe executable"),
    (0, b"\x00asm", "wasm data"),
    (0, b"\xef\xbb\xbf#!", "BOM before #!"),
];

/// How text begins, without regard to case, and what it is.
const TEXTS: &[(&str, &str)] = &[
    ("<!doctype html", "html"),
    ("<html", "html"),
    ("<?xml", "xml"),
    ("version https://git-lfs", "pointer file"),
    ("{", "json"),
];

pub(super) fn describe(bytes: &[u8]) -> String {
    let known = MAGIC
        .iter()
        .find(|(at, magic, _)| bytes.get(*at..).is_some_and(|bytes| bytes.starts_with(magic)));
    if let Some((_, _, name)) = known {
        return (*name).to_owned();
    }
    let beginning = &bytes[..bytes.len().min(4096)];
    if beginning.iter().all(u8::is_ascii_whitespace) {
        return "blank".to_owned();
    }
    if beginning.contains(&0) {
        return "unknown data".to_owned();
    }
    let text = String::from_utf8_lossy(beginning).trim_start().to_ascii_lowercase();
    match TEXTS.iter().find(|(start, _)| text.starts_with(start)) {
        Some((_, kind)) => format!("text without #! ({kind})"),
        None => "text without #!".to_owned(),
    }
}

//! Archives as real programs make them, evil ones made by hand, and random ones.

mod evil;
pub mod handmade;
mod random;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use towpath_tool::archive::{
    ArchiveError, ArchiveKind, ArchiveLimits, Compression, UnpackedFile, unpack,
};

const ARCHIVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/archives");
const LONG: &str = "a-directory-with-a-long-name-\
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

fn unpack_bytes(
    bytes: &[u8],
    name: &str,
    destination: &Path,
    strip: u32,
    limits: &ArchiveLimits,
) -> Result<Vec<UnpackedFile>, ArchiveError> {
    let file = destination.with_file_name("the-archive");
    fs::write(&file, bytes).expect("the archive is written");
    unpack(&file, name, destination, strip, limits)
}

fn file(path: &str, executable: bool) -> UnpackedFile {
    UnpackedFile { path: path.to_owned(), executable }
}

#[test]
fn archives_of_real_programs_are_unpacked() {
    let names = ["tool.tar.gz", "tool.tar.bz2", "tool.tar.xz", "tool.tar.zst", "frames.tar.zst"];
    for name in names.iter().chain(["tool.zip"].iter()) {
        let directory = tempfile::tempdir().unwrap();
        let destination = directory.path().join("tool");
        let archive = Path::new(ARCHIVES).join(name);
        let files = unpack(&archive, name, &destination, 1, &ArchiveLimits::default());
        let files = files.unwrap_or_else(|error| panic!("{name}: {error}"));
        let deep = format!("{LONG}/deep");
        assert_eq!(files, [file("README", false), file(&deep, false), file("bin/tool", true)]);
        assert_eq!(fs::read_to_string(destination.join(&deep)).unwrap(), "deep\n", "{name}");
        assert_eq!(fs::read_link(destination.join("run")).unwrap(), Path::new("bin/tool"));
        let mode = |path| fs::metadata(destination.join(path)).unwrap().permissions().mode();
        assert_eq!((mode("run") & 0o7111, mode("README") & 0o7111), (0o111, 0), "{name}");
        let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{name}: nothing but the destination is left");
    }
}

#[test]
fn the_kind_is_found_by_content() {
    let cases = [
        ("tool.tar.gz", Some(ArchiveKind::Tar(Compression::Gzip))),
        ("tool.tar.bz2", Some(ArchiveKind::Tar(Compression::Bzip2))),
        ("tool.tar.xz", Some(ArchiveKind::Tar(Compression::Xz))),
        ("tool.tar.zst", Some(ArchiveKind::Tar(Compression::Zstd))),
        ("tool.zip", Some(ArchiveKind::Zip)),
        ("tool.gz", Some(ArchiveKind::Compressed(Compression::Gzip))),
        ("../it/main.rs", None),
    ];
    for (name, expected) in cases {
        let found = ArchiveKind::of(&Path::new(ARCHIVES).join(name), "no-suffix");
        assert_eq!(found.ok(), expected, "{name}");
    }
}

#[test]
fn one_compressed_file_becomes_an_executable_file() {
    let directory = tempfile::tempdir().unwrap();
    let destination = directory.path().join("out");
    let archive = Path::new(ARCHIVES).join("tool.gz");
    let files = unpack(&archive, "tool.gz", &destination, 0, &ArchiveLimits::default()).unwrap();
    assert_eq!(files, [file("tool", true)]);
    assert_eq!(fs::read_to_string(destination.join("tool")).unwrap(), "#!/bin/sh\necho tool 1.0\n");
}

#[test]
fn a_truncated_or_changed_archive_is_refused_and_leaves_nothing() {
    for name in ["tool.tar.gz", "tool.tar.bz2", "tool.tar.xz", "tool.tar.zst", "tool.zip"] {
        let whole = fs::read(Path::new(ARCHIVES).join(name)).unwrap();
        let mut changed = whole.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 0xff;
        let damaged = [&whole[..whole.len() - 1], &whole[..whole.len() / 2], &changed];
        for (case, bytes) in damaged.into_iter().enumerate() {
            let directory = tempfile::tempdir().unwrap();
            let destination = directory.path().join("out");
            let result = unpack_bytes(bytes, name, &destination, 0, &ArchiveLimits::default());
            // A changed byte of a zip may be in its directory, and mean something else.
            let found = match result {
                Err(ArchiveError::Damaged(_)) => true,
                Err(ArchiveError::Refused { .. }) => name == "tool.zip" && case == 2,
                _ => false,
            };
            assert!(found, "{name} {case}: {result:?}");
            let left: Vec<_> = fs::read_dir(directory.path()).unwrap().flatten().collect();
            assert_eq!(left.len(), 1, "{name} {case}: only the archive itself is left");
        }
    }
}

#[test]
fn what_exists_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let archive = Path::new(ARCHIVES).join("tool.tar.gz");
    let result = unpack(&archive, "tool.tar.gz", directory.path(), 0, &ArchiveLimits::default());
    assert!(matches!(result, Err(ArchiveError::Io { .. })), "{result:?}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

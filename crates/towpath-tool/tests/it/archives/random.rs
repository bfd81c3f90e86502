//! Whatever an archive contains, nothing outside of the destination changes, and what is inside leads
//! nowhere else.

use super::handmade::{Entry, tar_of, zip_of};
use super::unpack_bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use tar::EntryType;
use towpath_tool::archive::ArchiveLimits;

const LIMITS: ArchiveLimits = ArchiveLimits { bytes: 200, entries: 30 };

/// Few words, so that entries meet each other.
fn path() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        6 => prop_oneof![Just("a"), Just("b"), Just("c"), Just("out"), Just("canary")],
        2 => Just(".."),
        1 => prop_oneof![Just("."), Just(""), Just("\u{1}"), Just("é")],
    ];
    let text = (prop::collection::vec(word, 1..5), any::<bool>(), 0..20_u8).prop_map(
        |(words, slash, start)| {
            let start = if start == 0 { "/" } else { "" };
            format!("{start}{}{}", words.join("/"), if slash { "/" } else { "" }).into_bytes()
        },
    );
    prop_oneof![20 => text, 1 => prop::collection::vec(any::<u8>(), 0..20)]
}

fn entry() -> impl Strategy<Value = Entry> {
    let kind = prop_oneof![
        5 => Just(EntryType::Regular),
        3 => Just(EntryType::Directory),
        5 => Just(EntryType::Symlink),
        3 => Just(EntryType::Link),
        1 => prop_oneof![Just(EntryType::GNULongName), Just(EntryType::GNULongLink)],
        1 => any::<u8>().prop_map(EntryType::new),
    ];
    let mode = prop_oneof![10 => Just(0o755), 1 => 0..0o10000_u32];
    (kind, path(), path(), mode, prop::collection::vec(any::<u8>(), 0..60)).prop_map(
        |(kind, name, link, mode, content)| {
            // A long name's content is the name.
            let long = matches!(kind, EntryType::GNULongName | EntryType::GNULongLink);
            let content = if long { link.clone() } else { content };
            Entry { name, kind, link, mode, content }
        },
    )
}

/// Everything in a directory but the archive and what was unpacked: paths, types and content.
fn snapshot(directory: &Path, except: &Path, into: &mut BTreeMap<PathBuf, String>) {
    for item in fs::read_dir(directory).unwrap().flatten() {
        let path = item.path();
        let meta = path.symlink_metadata().unwrap();
        if path == except || path.ends_with("the-archive") {
            continue;
        }
        if meta.is_dir() {
            snapshot(&path, except, into);
        }
        let content =
            if meta.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
        into.insert(path, format!("{:o} {content}", meta.mode()));
    }
}

/// The kernel's own answer: what does a link lead to?
fn check_inside(directory: &Path, root: &Path) {
    for item in fs::read_dir(directory).unwrap().flatten() {
        let path = item.path();
        let meta = path.symlink_metadata().unwrap();
        assert!(meta.is_dir() || meta.is_file() || meta.is_symlink(), "{path:?}");
        assert_eq!(meta.mode() & 0o6000, 0, "{path:?}");
        if meta.is_dir() {
            check_inside(&path, root);
        } else if meta.is_symlink() {
            if let Ok(real) = path.canonicalize() {
                assert!(real.starts_with(root), "{path:?} leads to {real:?}");
            }
            // Nothing can be created through it elsewhere either.
            let _ = fs::write(&path, "written through a link");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_written_outside(entries in prop::collection::vec(entry(), 1..8), strip in 0..2_u32, zip: bool) {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let inner = outer.join("b/c");
        fs::create_dir_all(&inner).unwrap();
        for canary in [outer.join("canary"), outer.join("a"), outer.join("b/a"), inner.join("canary")] {
            fs::write(canary, "sings").unwrap();
        }
        let out = inner.join("out");
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        snapshot(&outer, &out, &mut before);
        let bytes = if zip { zip_of(&entries) } else { tar_of(&entries) };
        let result = unpack_bytes(&bytes, "random.tar", &out, strip, &LIMITS);
        match &result {
            Ok(files) => {
                prop_assert!(files.iter().all(|file| out.join(&file.path).is_file()));
                check_inside(&out, &out);
            }
            Err(_) => prop_assert!(out.symlink_metadata().is_err(), "a refused archive leaves nothing"),
        }
        snapshot(&outer, &out, &mut after);
        prop_assert_eq!(before, after);
    }

    #[test]
    fn any_bytes_are_refused_or_unpacked(bytes in prop::collection::vec(any::<u8>(), 0..2000), head in 0..6_usize) {
        let heads: [&[u8]; 6] = [b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"];
        let directory = tempfile::tempdir().unwrap();
        let bytes = [heads[head], &bytes].concat();
        let out = directory.path().join("out");
        let result = unpack_bytes(&bytes, "random.tar", &out, 0, &LIMITS);
        prop_assert_eq!(result.is_ok(), out.exists());
    }
}

//! Archives that try to write outside of their folder, to become special files, or to fill the disk.
//! Each is refused for its own reason and leaves nothing.

use super::handmade::{Entry, tar_of, zip_of};
use super::unpack_bytes;
use std::fs;
use tar::EntryType;
use towpath_tool::archive::{ArchiveError, ArchiveLimits, Refusal};

const SMALL: ArchiveLimits = ArchiveLimits { bytes: 1000, entries: 20 };

fn refusal_of(bytes: &[u8], case: &str) -> Refusal {
    let outer = tempfile::tempdir().unwrap();
    let inner = outer.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let result = unpack_bytes(bytes, "evil", &inner.join("out"), 0, &SMALL);
    let left: Vec<_> = fs::read_dir(&inner).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["the-archive"], "{case}: nothing is left");
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1, "{case}: nothing outside");
    match result {
        Err(ArchiveError::Refused { refusal, .. }) => refusal,
        other => panic!("{case}: {other:?}"),
    }
}

fn file(name: &str) -> Entry {
    Entry::file(name.as_bytes(), b"x")
}

fn symlink(name: &str, target: &str) -> Entry {
    Entry::link(EntryType::Symlink, name.as_bytes(), target.as_bytes())
}

fn hard_link(name: &str, target: &str) -> Entry {
    Entry::link(EntryType::Link, name.as_bytes(), target.as_bytes())
}

fn leaves(target: &str) -> Refusal {
    Refusal::LinkLeaves(target.to_owned())
}

#[test]
fn entries_that_tar_and_zip_share_are_refused() {
    let many: Vec<Entry> = (0..21).map(|number| file(&format!("f{number}"))).collect();
    let deep = file(&format!("{}x", "d/".repeat(30)));
    let cases: Vec<(&str, Vec<Entry>, Refusal)> = vec![
        ("absolute", vec![file("/tmp/x")], Refusal::AbsolutePath),
        ("parent", vec![file("../x")], Refusal::ParentDirectory),
        ("hidden parent", vec![file("a/b/../../../x")], Refusal::ParentDirectory),
        ("link out", vec![symlink("a", "../x")], leaves("../x")),
        ("absolute link", vec![symlink("a", "/etc")], leaves("/etc")),
        (
            "link out by a link",
            vec![symlink("here", "."), symlink("a", "here/..")],
            leaves("here/.."),
        ),
        ("link loop", vec![symlink("a", "b"), symlink("b", "a")], leaves("b")),
        ("write through a link", vec![symlink("a", ".."), file("a/x")], Refusal::NotInDirectory),
        ("write over a link", vec![symlink("a", "../x"), file("a")], Refusal::Duplicate),
        ("link over a file", vec![file("a"), symlink("a", "b")], Refusal::Duplicate),
        ("below a file", vec![file("a"), file("a/b")], Refusal::NotInDirectory),
        ("duplicate", vec![file("a"), file("./a")], Refusal::Duplicate),
        ("setuid", vec![file("a").with_mode(0o4755)], Refusal::SetUser),
        ("setgid", vec![file("a").with_mode(0o2755)], Refusal::SetUser),
        ("device", vec![Entry::new(EntryType::Char, b"null")], Refusal::SpecialFile),
        ("pipe", vec![Entry::new(EntryType::Fifo, b"pipe")], Refusal::SpecialFile),
        ("not UTF-8", vec![Entry::file(b"a\xff\xfe", b"")], Refusal::NotUtf8),
        ("link not UTF-8", vec![Entry::link(EntryType::Symlink, b"a", b"\xff")], Refusal::NotUtf8),
        ("escape sequence", vec![Entry::file(b"\x1b[2J", b"")], Refusal::ControlCharacter),
        ("bytes", vec![Entry::file(b"a", &[0; 1001])], Refusal::TooManyBytes(1000)),
        (
            "bytes of two",
            vec![Entry::file(b"a", &[0; 600]), Entry::file(b"b", &[0; 600])],
            Refusal::TooManyBytes(1000),
        ),
        ("entries", many, Refusal::TooManyEntries(20)),
        ("directories", vec![deep], Refusal::TooManyEntries(20)),
    ];
    for (case, entries, expected) in cases {
        assert_eq!(refusal_of(&tar_of(&entries), case), expected, "tar: {case}");
        assert_eq!(refusal_of(&zip_of(&entries), case), expected, "zip: {case}");
    }
}

#[test]
fn hard_links_and_extensions_of_tars_are_refused() {
    let gnu_name = |name: &[u8]| Entry::file(b"@LongLink", name);
    let extension = |kind, content: &[u8]| Entry { kind, ..gnu_name(content) };
    let pax = |record: &[u8]| extension(EntryType::XHeader, record);
    let long = vec![b'x'; (1 << 20) + 1];
    let no_file = |name: &str| Refusal::LinkToNoFile(name.to_owned());
    let unsupported = Refusal::Unsupported;
    let cases: Vec<(&str, Vec<Entry>, Refusal)> = vec![
        ("hard link out", vec![hard_link("a", "../../etc/passwd")], leaves("../../etc/passwd")),
        ("absolute hard link", vec![hard_link("a", "/etc/passwd")], leaves("/etc/passwd")),
        ("hard link to nothing", vec![hard_link("a", "b")], no_file("b")),
        ("hard link to a link", vec![symlink("a", "b"), hard_link("c", "a")], no_file("a")),
        (
            "hard link over a file",
            vec![file("a"), file("b"), hard_link("b", "a")],
            Refusal::Duplicate,
        ),
        (
            "long name out",
            vec![extension(EntryType::GNULongName, b"../out\0"), file("a")],
            Refusal::ParentDirectory,
        ),
        (
            "long link out",
            vec![extension(EntryType::GNULongLink, b"/etc\0"), symlink("a", "b")],
            leaves("/etc"),
        ),
        ("pax name out", vec![pax(b"15 path=../out\n"), file("a")], Refusal::ParentDirectory),
        ("pax link out", vec![pax(b"17 linkpath=/etc\n"), symlink("a", "b")], leaves("/etc")),
        ("pax size", vec![pax(b"12 size=512\n"), file("a")], unsupported("two different sizes")),
        (
            "pax sparse",
            vec![pax(b"22 GNU.sparse.major=1\n"), file("a")],
            unsupported("a sparse file"),
        ),
        (
            "pax for all",
            vec![extension(EntryType::XGlobalHeader, b"10 path=x\n"), file("a")],
            unsupported("one name for all entries"),
        ),
        ("a very long name", vec![extension(EntryType::GNULongName, &long)], Refusal::TooLong),
        ("sparse", vec![extension(EntryType::GNUSparse, b"")], unsupported("a sparse file")),
        (
            "no known type",
            vec![extension(EntryType::new(b'Z'), b"")],
            unsupported("an unknown type"),
        ),
    ];
    for (case, entries, expected) in cases {
        assert_eq!(refusal_of(&tar_of(&entries), case), expected, "{case}");
    }
}

#[test]
fn a_small_file_that_becomes_huge_is_refused() {
    let bomb = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let zeros = Entry::file(b"zeros", &vec![0; 4 << 20]);
        std::io::Write::write_all(&mut encoder, &tar_of(&[zeros])).unwrap();
        encoder.finish().unwrap()
    };
    assert!(bomb.len() < 10_000);
    assert_eq!(refusal_of(&bomb, "a tar"), Refusal::TooManyBytes(1000));
    // Nothing but padding after the end of the archive.
    let padded = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut encoder, &tar_of(&[])).unwrap();
        std::io::Write::write_all(&mut encoder, &vec![0; 4 << 20]).unwrap();
        encoder.finish().unwrap()
    };
    let outer = tempfile::tempdir().unwrap();
    let result = unpack_bytes(&padded, "x.tar.gz", &outer.path().join("out"), 0, &SMALL);
    let Err(ArchiveError::Refused { refusal, .. }) = result else { panic!("{result:?}") };
    assert_eq!(refusal, Refusal::TooManyBytes(1000));
}

#[test]
fn a_file_that_demands_a_huge_dictionary_is_refused() {
    // The header of a block of xz whose dictionary has 4 GiB.
    let bytes =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/archives/tool.tar.xz")).unwrap();
    let mut huge = bytes;
    let property = 12 + 4;
    assert_eq!(&huge[14..16], [0x21, 0x01], "the filter is LZMA2 with one property");
    huge[property] = 40;
    let mut crc = flate2::Crc::new();
    crc.update(&huge[12..20]);
    huge[20..24].copy_from_slice(&crc.sum().to_le_bytes());
    let outer = tempfile::tempdir().unwrap();
    let result =
        unpack_bytes(&huge, "x.tar.xz", &outer.path().join("out"), 0, &ArchiveLimits::default());
    let Err(ArchiveError::Damaged(why)) = result else { panic!("{result:?}") };
    assert!(why.contains("memory"), "{why}");
}

#[test]
fn an_encrypted_zip_is_refused() {
    let mut bytes = zip_of(&[file("a")]);
    bytes[6] |= 1;
    let directory = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    bytes[directory + 8] |= 1;
    assert_eq!(refusal_of(&bytes, "encrypted"), Refusal::Encrypted);
}

#[test]
fn links_that_stay_inside_are_kept() {
    let outer = tempfile::tempdir().unwrap();
    let out = outer.path().join("out");
    let entries = [
        Entry::new(EntryType::Directory, b"top/").with_mode(0o2775),
        symlink("top/lib", "share/lib"),
        file("top/share/lib/x"),
        symlink("top/share/up", "../bin/"),
        hard_link("top/y", "top/share/lib/x"),
        Entry::new(EntryType::Directory, b"top/"),
    ];
    let files = unpack_bytes(&tar_of(&entries), "x.tar", &out, 1, &SMALL).unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["share/lib/x", "y"]);
    assert_eq!(fs::read(out.join("lib/x")).unwrap(), b"x");
    assert_eq!(fs::read(out.join("y")).unwrap(), b"x");
}

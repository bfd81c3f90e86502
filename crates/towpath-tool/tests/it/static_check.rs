//! Static checks: a real ELF program, this test itself, with the faults of broken installs; scripts; and
//! what is no program at all.

use proptest::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;
use towpath_tool::verification::{FilesOnDisk, look_at_file};
use towpath_tool::{FileFacts, FileQuestions, check_file, defined_versions};

static OWN: LazyLock<Vec<u8>> =
    LazyLock::new(|| std::fs::read(std::env::current_exe().unwrap()).unwrap());

/// A machine that has everything but what is listed.
#[derive(Default)]
struct AllBut {
    missing: Vec<&'static str>,
    versions: Option<Vec<String>>,
    files: HashMap<&'static str, &'static [u8]>,
}

impl AllBut {
    fn missing(name: &'static str) -> AllBut {
        AllBut { missing: vec![name], ..AllBut::default() }
    }

    fn has(&self, name: &str) -> bool {
        !self.missing.iter().any(|missing| name.contains(missing))
    }
}

impl FileQuestions for AllBut {
    fn exists(&self, path: &str) -> bool {
        self.has(path)
    }

    fn beginning(&self, path: &str) -> Option<Vec<u8>> {
        self.files.get(path).map(|bytes| bytes.to_vec())
    }

    fn is_on_path(&self, name: &str) -> bool {
        self.has(name) && !name.contains(' ')
    }

    fn library(&self, name: &str) -> Option<String> {
        self.has(name).then(|| format!("/lib/{name}"))
    }

    fn library_versions(&self, _: &str) -> Option<Vec<String>> {
        self.versions.clone()
    }
}

fn check(bytes: &[u8], questions: &AllBut) -> FileFacts {
    let facts = check_file("/opt/tool/bin/tool", 0o755, bytes, questions);
    // What an observation carries is read back as the same fault, or as one.
    let read = FileFacts::from_description(facts.description());
    assert_eq!(read.fault().is_some(), facts.fault().is_some(), "{facts:?}");
    facts
}

#[test]
fn a_whole_program_is_sound() {
    let facts = check(&OWN, &AllBut::default());
    assert_eq!(facts.fault(), None, "{facts:?}");
    assert!(facts.description().starts_with("elf "), "{facts:?}");
}

#[test]
fn faults_of_a_program_are_found() {
    let fault = |bytes: &[u8], questions: &AllBut| {
        check(bytes, questions).fault().map(str::to_owned).unwrap_or_default()
    };
    let all = AllBut::default();
    assert_eq!(fault(&OWN, &AllBut::missing("libc.so")), "needed libc.so.6 not found");
    assert!(fault(&OWN, &AllBut::missing("ld-linux")).starts_with("interpreter /lib"));
    let old = AllBut { versions: Some(vec!["GLIBC_2.0".to_owned()]), ..AllBut::default() };
    assert!(fault(&OWN, &old).starts_with("version G"), "{}", fault(&OWN, &old));
    assert_eq!(fault(&OWN[..64], &all), "truncated");
    assert_eq!(fault(&OWN[..OWN.len() / 2], &all), "section headers past end of file");
    let mut other = OWN.clone();
    other[18] = if cfg!(target_arch = "aarch64") { 62 } else { 183 };
    assert!(fault(&other, &all).starts_with("wrong architecture"));
}

/// This test as a program that opens a display.
fn display_program() -> Vec<u8> {
    let (library, other) = (b"libgcc_s.so.1\0", b"libX11.so.6\0\0\0");
    let mut bytes = OWN.clone();
    let found = bytes.windows(library.len()).position(|part| part == library);
    let at = found.expect("it is linked with the library of the compiler");
    bytes[at..at + other.len()].copy_from_slice(other);
    bytes
}

#[test]
fn a_display_program_is_known_by_its_name_in_the_file() {
    let bytes = display_program();
    let described = |path: &str, bytes: &[u8], questions: &AllBut| {
        check_file(path, 0o755, bytes, questions).description().to_owned()
    };
    let all = AllBut::default();
    let sound = described("/opt/tool/bin/tool", &bytes, &all);
    assert!(sound.ends_with("libraries found, display program tool"), "{sound}");
    // A name that is not in this file, because it is written backwards.
    let other: String = "sgniltrohs".chars().rev().collect();
    for description in [
        described(&format!("/opt/tool/bin/{other}"), &bytes, &all),
        described("/opt/tool/bin/tool", &OWN, &all),
        described("/opt/tool/bin/tool", &bytes, &AllBut::missing("libX11")),
    ] {
        assert!(!description.contains("display"), "{description}");
    }
}

#[test]
fn the_versions_of_a_real_library_are_read() {
    let paths =
        ["/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6"];
    let Some(path) = paths.iter().find(|path| Path::new(path).exists()) else { return };
    let versions = defined_versions(&std::fs::read(path).unwrap()).expect("it defines versions");
    assert!(versions.iter().any(|version| version.starts_with("GLIBC_2.")), "{versions:?}");
    let real = AllBut { versions: Some(versions), ..AllBut::default() };
    let fault = check(&OWN, &real).fault().map(str::to_owned);
    // One answer for all libraries: only those of the C library may be complained about.
    assert!(fault.as_deref().is_none_or(|fault| !fault.contains("of libc.so.6")), "{fault:?}");
}

#[test]
fn scripts_need_their_interpreter() {
    let env = |name| AllBut::missing(name);
    for (text, questions, fault) in [
        ("#!/bin/sh\n", AllBut::default(), ""),
        ("#! /usr/bin/python3 -u\n", AllBut::default(), ""),
        ("#!/usr/bin/python3.99\n", env("python3.99"), "/usr/bin/python3.99 missing"),
        ("#!/bin/sh\r\n", AllBut::default(), "CR in #! line"),
        ("#!\n", AllBut::default(), "interpreter missing"),
        ("#!/usr/bin/env node\n", AllBut::default(), ""),
        ("#!/usr/bin/env node99\n", env("node99"), "node99 not on PATH"),
        ("#!/usr/bin/env python3 -u\n", AllBut::default(), "python3 -u not on PATH"),
        ("#!/usr/bin/env -S python3 -u\n", AllBut::default(), ""),
        ("#!/usr/bin/env -S -i A=1 python9 -u\n", env("python9"), "python9 not on PATH"),
    ] {
        assert_eq!(check(text.as_bytes(), &questions).fault().unwrap_or(""), fault, "{text}");
    }
    let files = HashMap::from([("/opt/run", &b"#!/gone/sh\n"[..])]);
    let nested = AllBut { files, ..AllBut::missing("/gone/sh") };
    let facts = check(b"#!/opt/run\n", &nested);
    assert_eq!(facts.fault(), Some("interpreter /opt/run: /gone/sh missing"));
}

#[test]
fn what_is_no_program_is_named() {
    for (bytes, fault) in [
        (&b""[..], "empty"),
        (b"\n", "blank"),
        (b"\x1f\x8b\x08", "gzip data"),
        (b"PK\x03\x04", "zip archive"),
        (&[&[0; 257][..], b"ustar"].concat(), "tar archive"),
        (b"\xca\xfe\xba\xbe", "mach-o or Java class data"),
        (b"\0asm", "wasm data"),
        (b"MZ\x90", "pe executable"),
        (b"\xcf\xfa\xed\xfe", "mach-o"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "BOM before #!"),
        (b"<!DOCTYPE html>\n", "text without #! (html)"),
        (b"version https://git-lfs.github.com/spec/v1\n", "text without #! (pointer file)"),
        (b" {}", "text without #! (json)"),
        (b"btool 1.2.3\n", "text without #!"),
        (b"a\x00b", "unknown data"),
    ] {
        assert_eq!(check(bytes, &AllBut::default()).fault(), Some(fault));
    }
    let all = AllBut::default();
    let plain = check_file("/x", 0o644, b"#!/bin/sh\n", &all);
    assert_eq!(plain.description(), "script #!/bin/sh, mode 0644");
}

#[test]
fn what_is_no_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let link = |name: &str, target: &str| {
        std::os::unix::fs::symlink(target, directory.path().join(name)).unwrap();
    };
    link("dangling", "nowhere");
    link("loop", "loop");
    link("directory", "/");
    link("device", "/dev/null");
    for (name, fault) in [
        ("missing", "missing"),
        ("dangling", "dangling link"),
        ("loop", "link loop"),
        ("directory", "directory"),
        ("device", "not a regular file"),
    ] {
        let facts = look_at_file(&directory.path().join(name), &FilesOnDisk::new(Vec::new()));
        assert_eq!(facts.fault(), Some(fault));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_checked(bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0..3_usize) {
        let start: &[u8] = [&b""[..], b"#!", b"\x7fELF"][kind];
        check(&[start, &bytes].concat(), &AllBut::default());
    }

    #[test]
    fn a_damaged_program_is_checked(edits in prop::collection::vec((0..4096_usize, any::<u8>()), 1..12), length in 0..100_usize) {
        let mut bytes = OWN[..OWN.len().min(400_000)].to_vec();
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len() * (100 - length) / 100);
        check(&bytes, &AllBut::default());
        let _ = defined_versions(&bytes);
    }
}

//! What jobs print: in the row or in a file, found again by job, kept until it is recorded.

use crate::support::{create, fact, problems};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tempfile::{TempDir, tempdir};
use towpath_core::RunId;
use towpath_store::{
    INLINE_LIMIT, NewFact, Output, OutputRef, Store, StoreError, StoredOutput, Stream,
    settle_output,
};

struct Scene {
    directory: TempDir,
    store: Store,
    run: RunId,
    dir: PathBuf,
}

fn scene() -> Scene {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "7f3k");
    let dir = store.run_directory(&run);
    Scene { directory, store, run, dir }
}

fn finished(key: &str, stdout: Option<OutputRef>, stderr: Option<OutputRef>) -> NewFact {
    NewFact { key: Some(key.into()), stdout, stderr, ..fact("{}") }
}

#[test]
fn a_small_output_moves_into_the_row_and_its_file_goes_with_the_commit() {
    let Scene { directory: _directory, mut store, run, dir } = scene();
    for size in [0, 1, INLINE_LIMIT as usize] {
        let (name, key) = (format!("{size}.out"), format!("s{size}"));
        fs::write(dir.join(&name), vec![b'x'; size]).unwrap();
        let settled = settle_output(&dir, &name).unwrap();
        assert_eq!(settled.as_ref().unwrap().bytes().map(<[u8]>::len), Some(size));
        assert!(dir.join(&name).exists(), "kept until it is recorded");
        store.append(&run, &[finished(&key, settled, None)], None).unwrap();
        assert!(!dir.join(&name).exists());
        let output = store.output(&run, &key, Stream::Stdout).unwrap();
        assert_eq!(output, Some(Output::Inline(vec![b'x'; size])));
    }
}

#[test]
fn a_refused_append_keeps_the_file_of_a_small_output() {
    let Scene { directory: _directory, mut store, dir, .. } = scene();
    fs::write(dir.join("a.out"), "paid for").unwrap();
    let settled = settle_output(&dir, "a.out").unwrap();
    let nobody = RunId::new("zzzz").unwrap();
    assert!(store.append(&nobody, &[finished("a", settled, None)], None).is_err());
    assert_eq!(fs::read(dir.join("a.out")).unwrap(), b"paid for");
}

#[test]
fn a_large_output_stays_in_its_file() {
    let Scene { directory: _directory, mut store, run, dir } = scene();
    let len = INLINE_LIMIT + 1;
    fs::create_dir(dir.join("jobs")).unwrap();
    fs::write(dir.join("jobs/a.err"), vec![b'x'; len as usize]).unwrap();
    let settled = settle_output(&dir, "jobs/a.err").unwrap();
    let Some(OutputRef::File { sum, .. }) = settled else { panic!("{settled:?}") };
    assert_eq!(settled, Some(OutputRef::File { name: "jobs/a.err".into(), len, sum }));
    store.append(&run, &[finished("a", None, settled)], None).unwrap();
    let output = store.output(&run, "a", Stream::Stderr).unwrap();
    assert_eq!(output, Some(Output::File { path: dir.join("jobs/a.err"), len }));
    assert_eq!(store.output(&run, "a", Stream::Stdout).unwrap(), None);
    let stored = store.facts(&run).unwrap().remove(0).stderr;
    assert_eq!(stored, Some(StoredOutput::File { name: "jobs/a.err".into(), len, sum }));
}

#[test]
fn the_newest_output_of_a_job_counts_and_others_do_not() {
    let Scene { directory: _directory, mut store, run, .. } = scene();
    let other = create(&mut store, "6q0d");
    let text = |text: &str| Some(OutputRef::inline(text));
    let facts = [
        finished("a", text("old"), text("only")),
        finished("a", text("new"), None),
        finished("ab", text("another job"), None),
        finished("a", None, None),
    ];
    store.append(&run, &facts, None).unwrap();
    store.append(&other, &[finished("a", text("another run"), None)], None).unwrap();
    let read = |key, stream| match store.output(&run, key, stream).unwrap() {
        Some(Output::Inline(bytes)) => Some(String::from_utf8(bytes).unwrap()),
        Some(Output::File { .. }) => panic!("none is in a file"),
        None => None,
    };
    assert_eq!(read("a", Stream::Stdout).as_deref(), Some("new"));
    assert_eq!(read("a", Stream::Stderr).as_deref(), Some("only"));
    assert_eq!(read("b", Stream::Stdout), None);
}

#[test]
fn no_file_is_no_output() {
    let Scene { directory: _directory, dir, .. } = scene();
    assert_eq!(settle_output(&dir, "none.out").unwrap(), None);
}

#[test]
fn only_plain_files_inside_the_run_directory_are_outputs() {
    let Scene { directory: _directory, mut store, run, dir } = scene();
    for name in ["", "..", "../x", "a/../../x", "/etc/passwd", "./a", "a\0b"] {
        let settled = settle_output(&dir, name);
        assert!(matches!(settled, Err(StoreError::BadOutputName(_))), "{name:?} {settled:?}");
        let file = OutputRef::Inline { bytes: vec![], file: Some(name.into()) };
        let refused = store.append(&run, &[finished("a", Some(file), None)], None);
        assert!(matches!(refused, Err(StoreError::BadOutputName(_))), "{name:?} {refused:?}");
    }
    symlink("/etc/passwd", dir.join("link")).unwrap();
    fs::create_dir(dir.join("folder")).unwrap();
    for name in ["link", "folder"] {
        let settled = settle_output(&dir, name);
        assert!(matches!(settled, Err(StoreError::Io { .. })), "{name} {settled:?}");
    }
}

#[test]
fn a_lost_or_cut_output_file_is_found_by_the_check() {
    let Scene { directory: _directory, mut store, run, dir } = scene();
    for name in ["gone", "cut", "whole"] {
        fs::write(dir.join(name), vec![b'x'; 70_000]).unwrap();
        let settled = settle_output(&dir, name).unwrap();
        store.append(&run, &[finished(name, settled, None)], None).unwrap();
    }
    fs::remove_file(dir.join("gone")).unwrap();
    fs::write(dir.join("cut"), "x").unwrap();
    let problems = problems(&store);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("run 7f3k") && problems[0].contains("gone"), "{problems:?}");
    assert!(problems[1].contains("cut has 1 of 70000 bytes"), "{problems:?}");
}

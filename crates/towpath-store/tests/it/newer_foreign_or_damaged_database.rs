//! Databases that are newer, foreign or broken: refused, distinguished, and left as they are.

use crate::support::{bodies, checkpoint, contents, create, fact, id, problems, small_journal};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use tempfile::tempdir;
use towpath_store::{NewFact, OutputRef, SCHEMA_VERSION, Store, StoreError};

fn refused_untouched(dir: &Path, expected: fn(&StoreError) -> bool) {
    let before = contents(dir);
    let errors = [Store::open(dir).err(), Store::open_for_reading(dir).err()];
    for error in errors {
        let error = error.expect("refused");
        assert!(expected(&error), "{error:?}");
        assert!(error.to_string().contains("nothing was changed"), "{error}");
    }
    assert_eq!(contents(dir), before);
}

fn is_newer(error: &StoreError) -> bool {
    matches!(error, StoreError::Newer { found: 999, known: SCHEMA_VERSION, .. })
}

fn is_damaged(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged { .. })
}

#[test]
fn a_newer_journal_is_refused_untouched() {
    let directory = tempdir().unwrap();
    small_journal(directory.path());
    checkpoint(directory.path());
    let mut bytes = fs::read(directory.path().join("journal.db")).unwrap();
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    fs::write(directory.path().join("journal.db"), bytes).unwrap();
    refused_untouched(directory.path(), is_newer);
}

/// The version may still be in the log of a newer towpath that was killed.
#[test]
fn a_newer_journal_is_known_by_its_log_too() {
    let directory = tempdir().unwrap();
    small_journal(directory.path());
    let copy = tempdir().unwrap();
    let newer = Connection::open(directory.path().join("journal.db")).unwrap();
    newer.pragma_update(None, "user_version", 999).unwrap();
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        fs::copy(directory.path().join(file), copy.path().join(file)).unwrap();
    }
    drop(newer);
    let version = &fs::read(copy.path().join("journal.db")).unwrap()[60..64];
    assert_eq!(
        version,
        (SCHEMA_VERSION as u32).to_be_bytes(),
        "the new version is only in the log"
    );
    refused_untouched(copy.path(), is_newer);
}

#[test]
fn an_upgrade_by_another_else_stops_an_open_store_from_writing() {
    let directory = tempdir().unwrap();
    let run = small_journal(directory.path());
    let mut store = Store::open(directory.path()).unwrap();
    let newer = Connection::open(directory.path().join("journal.db")).unwrap();
    newer.pragma_update(None, "user_version", 999).unwrap();
    let refused = store.append(&run, &[fact("2")], None).unwrap_err();
    assert!(is_newer(&refused), "{refused:?}");
    newer.pragma_update(None, "user_version", SCHEMA_VERSION).unwrap();
    assert_eq!(bodies(&store, &run), ["1"]);
}

#[test]
fn another_programs_database_is_refused_untouched() {
    let directory = tempdir().unwrap();
    let other = Connection::open(directory.path().join("journal.db")).unwrap();
    other.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    drop(other);
    refused_untouched(directory.path(), is_damaged);
}

#[test]
fn a_spoiled_header_is_refused_untouched() {
    let directory = tempdir().unwrap();
    small_journal(directory.path());
    checkpoint(directory.path());
    let path = directory.path().join("journal.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[..16].copy_from_slice(b"no database here");
    fs::write(&path, &bytes).unwrap();
    refused_untouched(directory.path(), is_damaged);
    fs::write(&path, "just some text that is no database at all\n".repeat(200)).unwrap();
    refused_untouched(directory.path(), is_damaged);
}

/// Opening stays fast and checks little: damage further in is reported by whoever meets it.
#[test]
fn spoiled_pages_are_reported_when_they_are_read_or_written() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "7f3k");
    let output = Some(OutputRef::inline(vec![b'x'; 3_000]));
    let fact = NewFact { stdout: output, key: Some("a".into()), ..fact("{}") };
    for _ in 0..20 {
        store.append(&run, &[fact.clone(), fact.clone()], None).unwrap();
    }
    drop(store);
    checkpoint(directory.path());
    let path = directory.path().join("journal.db");
    let mut bytes = fs::read(&path).unwrap();
    // Behind the pages that show which tables there are, so that opening still works.
    let (start, end) = (24 * 4096, bytes.len());
    bytes[start..end].fill(0xA5);
    fs::write(&path, &bytes).unwrap();

    let mut store = Store::open(directory.path()).unwrap();
    let read = store.facts(&run).unwrap_err();
    assert!(is_damaged(&read), "{read:?}");
    let written = store.append(&run, &[fact], None).unwrap_err();
    assert!(is_damaged(&written), "{written:?}");
    assert!(!problems(&store).is_empty());
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), bytes, "the file is as it was");
}

#[test]
fn a_interrupted_database_is_reported() {
    let directory = tempdir().unwrap();
    small_journal(directory.path());
    checkpoint(directory.path());
    let path = directory.path().join("journal.db");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..4096 * 2]).unwrap();
    let met = Store::open(directory.path()).and_then(|store| store.facts(&id("7f3k")));
    assert!(is_damaged(met.as_ref().unwrap_err()), "{met:?}");
    assert_eq!(fs::read(&path).unwrap(), &bytes[..4096 * 2]);
}

/// What the message suggests works, even when a user moves only the file and leaves the log.
#[test]
fn a_journal_moved_away_makes_room_for_a_new_one() {
    let directory = tempdir().unwrap();
    small_journal(directory.path());
    fs::rename(directory.path().join("journal.db"), directory.path().join("old")).unwrap();
    assert!(fs::metadata(directory.path().join("journal.db-wal")).unwrap().len() > 0);
    let mut store = Store::open(directory.path()).unwrap();
    assert_eq!(store.latest(None).unwrap(), None);
    let run = create(&mut store, "6q0d");
    store.append(&run, &[fact("new")], None).unwrap();
    drop(store);
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(bodies(&store, &run), ["new"]);
    let problems = problems(&store);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].starts_with("the journal has no run 7f3k"), "{problems:?}");
}

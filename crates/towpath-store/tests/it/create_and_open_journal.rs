//! Where the journal is made, for whom, and what looking leaves behind: nothing.

use crate::support::{bodies, contents, create, fact, small_journal};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use tempfile::tempdir;
use towpath_store::{Store, StoreError};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn everything_made_is_for_its_owner_alone() {
    let directory = tempdir().unwrap();
    let dir = directory.path().join("state/towpath");
    let mut store = Store::open(&dir).unwrap();
    let run = create(&mut store, "7f3k");
    for made in [directory.path().join("state"), dir.clone(), dir.join("runs")] {
        assert_eq!(mode(&made), 0o700, "{made:?}");
    }
    assert_eq!(store.run_directory(&run), dir.join("runs/7f3k"));
    assert_eq!(mode(&store.run_directory(&run)), 0o700);
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
}

#[test]
fn what_others_could_read_is_found_by_the_check_and_left_as_it_is() {
    let directory = tempdir().unwrap();
    let dir = directory.path().join("state");
    small_journal(&dir);
    let store = Store::open(&dir).unwrap();
    assert_eq!(store.integrity().unwrap(), Vec::<String>::new());
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    let expected = format!("{} is open to other users (mode 755)", dir.display());
    assert_eq!(store.integrity().unwrap(), [expected]);
    drop(store);
    Store::open(&dir).unwrap();
    assert_eq!(mode(&dir), 0o755);
}

#[test]
fn looking_where_nothing_is_makes_nothing() {
    let directory = tempdir().unwrap();
    assert!(Store::open_for_reading(&directory.path().join("none/yet")).unwrap().is_none());
    assert!(Store::open_for_reading(directory.path()).unwrap().is_none());
    assert!(contents(directory.path()).is_empty());
}

#[test]
fn looking_changes_no_byte_and_makes_no_file() {
    let directory = tempdir().unwrap();
    let run = small_journal(directory.path());
    let before = contents(directory.path());
    let store = Store::open_for_reading(directory.path()).unwrap().unwrap();
    assert_eq!(bodies(&store, &run), ["1"]);
    drop(store);
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn who_looks_cannot_write() {
    let directory = tempdir().unwrap();
    let run = small_journal(directory.path());
    let mut store = Store::open_for_reading(directory.path()).unwrap().unwrap();
    let refused = store.append(&run, &[fact("2")], None);
    assert!(matches!(refused, Err(StoreError::Unwritable { .. })), "{refused:?}");
    assert_eq!(bodies(&store, &run), ["1"]);
}

#[test]
fn who_looks_sees_what_is_written_meanwhile() {
    let directory = tempdir().unwrap();
    let run = small_journal(directory.path());
    let looking = Store::open_for_reading(directory.path()).unwrap().unwrap();
    let mut writing = Store::open(directory.path()).unwrap();
    writing.append(&run, &[fact("2"), fact("3")], None).unwrap();
    let seen: Vec<_> = looking.facts_after(&run, 1).unwrap();
    assert_eq!(
        seen.iter().map(|f| (f.seq, f.body.as_str())).collect::<Vec<_>>(),
        [(2, "2"), (3, "3")]
    );
}

#[test]
fn an_empty_file_is_a_journal_not_made_yet() {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("journal.db"), "").unwrap();
    assert!(Store::open_for_reading(directory.path()).unwrap().is_none());
    assert_eq!(fs::read(directory.path().join("journal.db")).unwrap(), b"");
    let run = small_journal(directory.path());
    assert_eq!(bodies(&Store::open(directory.path()).unwrap(), &run), ["1"]);
}

#[test]
fn a_directory_instead_of_the_file_is_refused() {
    let directory = tempdir().unwrap();
    fs::create_dir(directory.path().join("journal.db")).unwrap();
    let opened = Store::open(directory.path());
    assert!(matches!(opened, Err(StoreError::Unwritable { .. })), "{opened:?}");
    let opened = Store::open_for_reading(directory.path());
    assert!(matches!(opened, Err(StoreError::Io { .. })), "{opened:?}");
}

#[test]
fn a_path_below_a_file_is_unwritable_and_the_message_reports_what_to_do() {
    let directory = tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "mine").unwrap();
    let error = Store::open(&file.join("towpath")).unwrap_err();
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error:?}");
    assert!(error.to_string().contains("TOWPATH_HOME"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let looked = Store::open_for_reading(&file.join("towpath"));
    assert!(matches!(looked, Err(StoreError::Io { .. })), "{looked:?}");
}

#[test]
fn a_path_need_not_be_text() {
    let directory = tempdir().unwrap();
    for name in [&b"caf\xe9 ?#%20'x"[..], b"file:x?mode=memory", b"new\nline"] {
        let dir = directory.path().join(OsStr::from_bytes(name));
        let run = small_journal(&dir);
        assert!(dir.join("journal.db").is_file());
        let store = Store::open_for_reading(&dir).unwrap().unwrap();
        assert_eq!(bodies(&store, &run), ["1"]);
    }
}

#[test]
fn a_path_that_is_not_text_is_shown_escaped() {
    let directory = tempdir().unwrap();
    let dir = directory.path().join(OsStr::from_bytes(b"caf\xe9"));
    fs::write(&dir, "a file").unwrap();
    let message = Store::open(&dir).unwrap_err().to_string();
    assert!(message.contains(r"caf\xe9"), "{message}");
}

#[test]
fn the_state_directory_may_be_a_link() {
    let directory = tempdir().unwrap();
    fs::create_dir(directory.path().join("real")).unwrap();
    symlink("real", directory.path().join("link")).unwrap();
    let run = small_journal(&directory.path().join("link"));
    assert_eq!(bodies(&Store::open(&directory.path().join("real")).unwrap(), &run), ["1"]);
}

#[test]
fn a_journal_is_opened_again_and_again_without_a_change() {
    let directory = tempdir().unwrap();
    small_journal(directory.path());
    let before = contents(directory.path());
    for _ in 0..3 {
        Store::open(directory.path()).unwrap();
    }
    assert_eq!(contents(directory.path()), before);
}

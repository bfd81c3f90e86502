//! A disk that cannot be written, for root as well: looking works there, writing is refused.

use crate::full_disk::quoted;
use crate::second_process_for_tests::{command, printed};
use crate::support::{checkpoint, contents, small_journal};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

/// Reports it when this machine does not allow a mount of one's own.
pub fn namespaces_work(dir: &Path) -> bool {
    let mount = format!("mount -t tmpfs -o size=1m none {}", quoted(dir));
    let tried = Command::new("unshare").args(["-rm", "sh", "-c", &mount]).output();
    let works = tried.is_ok_and(|tried| tried.status.success());
    if !works {
        eprintln!("skipped: this machine allows no mount in a namespace of its own");
    }
    works
}

fn look_and_write(dir: &Path) {
    let before = contents(dir);
    let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";
    let wrapper = ["unshare", "-rm", "sh", "-c", mount, dir.to_str().unwrap()];
    let child = command(&wrapper, "look-and-write", dir, "").output().unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{text}\n{errors}");
    assert_eq!(text.lines().filter_map(printed).collect::<Vec<_>>(), ["1", "unwritable"]);
    assert_eq!(contents(dir), before);
}

#[test]
fn a_read_only_disk_can_be_looked_at_but_not_written() {
    let directory = tempdir().unwrap();
    if !namespaces_work(directory.path()) {
        return;
    }
    small_journal(directory.path());
    look_and_write(directory.path());
    checkpoint(directory.path());
    look_and_write(directory.path());
    for side in ["journal.db-wal", "journal.db-shm"] {
        let _ = fs::remove_file(directory.path().join(side));
    }
    look_and_write(directory.path());
}

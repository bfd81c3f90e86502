//! A disk that takes no more: the append that meets it is refused whole, the rest stays.

use crate::second_process_for_tests::{command, printed};
use crate::support::{bodies, fact, id, problems};
use std::path::Path;
use std::process::Output;
use tempfile::tempdir;
use towpath_store::Store;

fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{text}\n{errors}", output.status);
    text.lines().filter_map(printed).collect()
}

/// The limit on a file's size is a failing write that needs no privilege to cause.
#[test]
fn a_write_that_fails_is_unwritable_and_leaves_nothing_half_written() {
    let directory = tempdir().unwrap();
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 3000; exec \"$@\"", "sh"];
    let child = command(&limited, "fill", directory.path(), "").output().unwrap();
    let reported = lines(&child);
    assert_eq!(reported[0], "unwritable");
    let whole: usize = reported[1].parse().unwrap();
    assert!(whole > 5, "it wrote for a while: {whole}");

    let mut store = Store::open(directory.path()).unwrap();
    assert_eq!(bodies(&store, &id("7f3k")).len(), whole * 3);
    store.append(&id("7f3k"), &[fact("after")], None).unwrap();
    assert_eq!(bodies(&store, &id("7f3k")).len(), whole * 3 + 1);
    assert_eq!(problems(&store), Vec::<String>::new());
}

/// A small file system of our own, in a namespace where anybody may mount one.
#[test]
fn a_full_disk_is_reported_as_full_and_writing_continues_once_there_is_space() {
    let directory = tempdir().unwrap();
    if !crate::read_only_disk::namespaces_work(directory.path()) {
        return;
    }
    let mount =
        format!("mount -t tmpfs -o size=3m none {} && exec \"$@\"", quoted(directory.path()));
    let wrapper = ["unshare", "-rm", "sh", "-c", &mount, "sh"];
    let child = command(&wrapper, "fill-then-free", directory.path(), "").output().unwrap();
    let reported = lines(&child);
    assert_eq!((reported[0].as_str(), reported[2].as_str()), ("full", "recovered"));
    assert!(reported[1].parse::<usize>().unwrap() > 5, "{reported:?}");
}

pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_str().unwrap().replace('\'', r"'\''"))
}

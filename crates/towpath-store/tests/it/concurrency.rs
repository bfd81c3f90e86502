//! Several processes at one journal: each writes its run, others look, nobody is turned away.

use crate::second_process_for_tests::start;
use crate::support::{bodies, contents, id, problems};
use tempfile::tempdir;
use towpath_store::{RunFilter, Store};

#[test]
fn two_processes_append_to_two_runs_while_a_third_looks() {
    let directory = tempdir().unwrap();
    Store::open(directory.path()).unwrap();
    let names = ["aaaa", "bbbb"];
    let children = names.map(|name| start("append-500", directory.path(), name));
    let looking = Store::open_for_reading(directory.path()).unwrap().unwrap();
    let mut seen = 0;
    let mut ends = 0;
    for mut child in children {
        while let Some(line) = child.next() {
            let now: usize = names.iter().map(|name| count(&looking, name)).sum();
            assert!(now >= seen, "facts do not go away");
            seen = now;
            ends += usize::from(line == "499");
        }
        child.finish();
    }
    assert_eq!(ends, 2, "each child appended its last batch");
    for name in names {
        let last = bodies(&looking, &id(name)).pop().unwrap();
        assert!(last.starts_with("[499,"), "{last}");
    }
    assert_eq!(problems(&looking), Vec::<String>::new());
}

fn count(store: &Store, name: &str) -> usize {
    match store.run(&id(name)).unwrap() {
        Some(row) => store.facts_after(&row.id, 0).unwrap().len(),
        None => 0,
    }
}

#[test]
fn processes_that_make_the_journal_at_the_same_moment_all_get_it() {
    for _ in 0..10 {
        let directory = tempdir().unwrap();
        let dir = directory.path().join("state/towpath");
        let names = ["aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff"];
        let mut children = names.map(|name| start("create-on-signal", &dir, name));
        for child in &mut children {
            assert_eq!(child.next().as_deref(), Some("ready"));
        }
        for child in &mut children {
            drop(child.child.stdin.take());
        }
        for child in children {
            assert_eq!(child.finish(), ["opened", "created"]);
        }
        let store = Store::open(&dir).unwrap();
        assert_eq!(store.runs(&RunFilter::default()).unwrap().len(), names.len());
        let backups = contents(&dir)
            .into_keys()
            .filter(|path| path.extension().is_some_and(|e| e == "backup"));
        assert_eq!(backups.count(), 0, "a new journal needs no backup");
    }
}

//! A deleted run is gone with one commit; its files follow, also after a crash in between.

use crate::support::{bodies, create, fact, id, problems};
use std::fs;
use tempfile::tempdir;
use towpath_store::{NewFact, OutputRef, Store, StoreError};

fn large(text: &str) -> NewFact {
    let stdout = Some(OutputRef::inline(text.repeat(60_000)));
    NewFact { key: Some("a#1.1.1:bash".into()), stdout, ..fact("1") }
}

#[test]
fn a_deleted_run_leaves_its_neighbours_alone() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let runs: Vec<_> = ["aaaa", "bbbb", "cccc"].map(|name| create(&mut store, name)).into();
    for run in &runs {
        store.append(run, &[fact(run.as_str())], None).unwrap();
        store.add_plan(run, "another plan", &[], None).unwrap();
        fs::write(store.run_directory(run).join("1.stdout"), vec![b'x'; 100_000]).unwrap();
    }
    assert!(store.run_bytes(&runs[1]).unwrap() > 100_000);
    store.delete_run(&runs[1]).unwrap();
    assert!(matches!(store.delete_run(&runs[1]), Err(StoreError::NoSuchRun(_))));
    assert!(store.run(&runs[1]).unwrap().is_none());
    assert!(!store.run_directory(&runs[1]).exists());
    for run in [&runs[0], &runs[2]] {
        assert_eq!(bodies(&store, run), [run.as_str()]);
        assert_eq!(store.plan(run, None).unwrap().text, "another plan");
        assert!(store.run_directory(run).join("1.stdout").exists());
    }
    assert_eq!(problems(&store), Vec::<String>::new());
    let left: Vec<_> = fs::read_dir(directory.path().join("runs")).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
    // Its name is free again, and its number.
    assert_eq!(create(&mut store, "bbbb"), runs[1]);
    assert_eq!(bodies(&store, &runs[1]), Vec::<String>::new());
}

#[test]
fn what_a_interrupted_deletion_left_is_swept_and_nothing_else() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let runs = directory.path().join("runs");
    let kept = create(&mut store, "aaaa");
    // Marked, and the commit never came: the run is whole.
    fs::write(store.run_directory(&kept).join("deleted"), "").unwrap();
    // The commit came, the removal did not; and one that was interrupted halfway.
    fs::create_dir(runs.join("bbbb")).unwrap();
    fs::write(runs.join("bbbb/deleted"), "").unwrap();
    fs::write(runs.join("bbbb/1.stdout"), vec![b'x'; 50_000]).unwrap();
    fs::create_dir(runs.join("cccc.deleted")).unwrap();
    // Nothing shows that these may go: rows can be lost with a database that was moved away.
    fs::create_dir(runs.join("dddd")).unwrap();
    fs::create_dir(runs.join("notes")).unwrap();
    assert!(store.sweep_deleted().unwrap() >= 50_000);
    let mut left: Vec<String> = fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["aaaa", "dddd", "notes"]);
    assert_eq!(store.sweep_deleted().unwrap(), 0);
}

#[test]
fn space_goes_back_where_it_is_much_and_stays_where_it_is_little() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    for n in 0..40 {
        let run = create(&mut store, &format!("aa{}{}", n / 10, n % 10));
        store.append(&run, &[large("x")], None).unwrap();
    }
    store.delete_run(&id("aa00")).unwrap();
    let little = store.reclaim().unwrap();
    assert!(little.returned == 0 && little.kept > 50_000, "{little:?}");
    for n in 1..30 {
        store.delete_run(&id(&format!("aa{}{}", n / 10, n % 10))).unwrap();
    }
    let before = fs::metadata(directory.path().join("journal.db")).unwrap().len();
    let much = store.reclaim().unwrap();
    assert!(much.returned > 29 * 60_000 && much.kept == 0, "{much:?}");
    let after = fs::metadata(directory.path().join("journal.db")).unwrap().len();
    assert!(before - after > 29 * 60_000, "{before} {after}");
    assert_eq!(store.facts(&id("aa35")).unwrap().len(), 1);
    assert_eq!(problems(&store), Vec::<String>::new());
}

#[test]
fn while_another_writes_the_space_stays() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "aaaa");
    store.append(&run, &[large("x")], None).unwrap();
    store.delete_run(&run).unwrap();
    let other = rusqlite::Connection::open(directory.path().join("journal.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let reclaimed = store.reclaim().unwrap();
    assert!(reclaimed.returned == 0 && reclaimed.kept > 50_000, "{reclaimed:?}");
}

//! Finding runs again: by id, by its beginning, by directory, recipe and status; and how ids are given.

use crate::support::{create, id, new_run};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use tempfile::tempdir;
use towpath_core::{RunId, RunStatus, StatusKind};
use towpath_store::{Found, NewRun, RunFilter, Store, StoreError};

fn ids(rows: Vec<towpath_store::RunRow>) -> Vec<String> {
    rows.iter().map(|row| row.id.to_string()).collect()
}

fn add(store: &mut Store, name: &str, recipe: &str, directory: &[u8], status: &str) {
    let mut new = new_run();
    new.recipe = recipe.into();
    new.directory = PathBuf::from(OsStr::from_bytes(directory));
    new.summary.status = RunStatus::from_columns(status, "");
    store.create_run(&new, &mut |_| id(name), &[]).unwrap();
}

#[test]
fn runs_are_listed_newest_first_and_narrowed() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    add(&mut store, "aaaa", "build", b"/shop", "done");
    add(&mut store, "bbbb", "build", b"/caf\xe9", "failed");
    add(&mut store, "cccc", "test", b"/shop", "failed");
    let all = RunFilter::default();
    let shop = Some(PathBuf::from("/shop"));
    let cases = [
        (all.clone(), vec!["cccc", "bbbb", "aaaa"]),
        (RunFilter { limit: Some(2), ..all.clone() }, vec!["cccc", "bbbb"]),
        (RunFilter { limit: Some(0), ..all.clone() }, vec![]),
        (RunFilter { directory: shop.clone(), ..all.clone() }, vec!["cccc", "aaaa"]),
        (RunFilter { recipe: Some("build".into()), ..all.clone() }, vec!["bbbb", "aaaa"]),
        (RunFilter { status: Some(StatusKind::Failed), ..all.clone() }, vec!["cccc", "bbbb"]),
        (
            RunFilter { directory: shop, status: Some(StatusKind::Done), ..all.clone() },
            vec!["aaaa"],
        ),
        (RunFilter { recipe: Some("' OR 1".into()), ..all }, vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(ids(store.runs(&filter).unwrap()), expected, "{filter:?}");
    }
    let odd = Path::new(OsStr::from_bytes(b"/caf\xe9"));
    let row = store.latest(Some(odd)).unwrap().unwrap();
    assert_eq!((row.id.as_str(), row.directory.as_path()), ("bbbb", odd));
    assert_eq!(store.latest(None).unwrap().unwrap().id.as_str(), "cccc");
    assert_eq!(store.latest(Some(Path::new("/none"))).unwrap(), None);
}

#[test]
fn a_run_row_has_all_that_was_reported() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "7f3k");
    let row = store.run(&run).unwrap().unwrap();
    let NewRun { recipe, source, directory, created_ms, summary, .. } = new_run();
    assert_eq!((row.recipe, row.source, row.directory), (recipe, source, directory));
    assert_eq!((row.id, row.created_ms, row.summary), (run, created_ms, summary));
}

#[test]
fn the_beginning_of_an_id_is_enough_when_it_is_unique() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    for name in ["7f3k", "7f3kq", "7zzz", "8abc"] {
        create(&mut store, name);
    }
    let found = |prefix: &str| match store.find(prefix).unwrap() {
        Found::One(row) => row.id.to_string(),
        Found::None => "none".into(),
        Found::Many(all) => all.iter().map(RunId::as_str).collect::<Vec<_>>().join(" "),
    };
    let cases = [
        ("8", "8abc"),
        ("8ABC", "8abc"),
        ("7z", "7zzz"),
        ("7f3k", "7f3k"),
        ("7f3kq", "7f3kq"),
        ("7f3", "7f3kq 7f3k"),
        ("7", "7zzz 7f3kq 7f3k"),
        ("9", "none"),
        ("7f3kqq", "none"),
        ("", "none"),
        ("%", "none"),
        ("7{", "none"),
        ("é", "none"),
    ];
    for (prefix, expected) in cases {
        assert_eq!(found(prefix), expected, "{prefix}");
    }
}

#[test]
fn a_taken_id_makes_the_next_one_longer() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    create(&mut store, "aaaa");
    fs::create_dir(directory.path().join("runs/aaaaa")).unwrap();
    let mut asked = Vec::new();
    let mut next = |length: u32| {
        asked.push(length);
        RunId::new(&"a".repeat(length as usize)).unwrap()
    };
    let run = store.create_run(&new_run(), &mut next, &[]).unwrap();
    assert_eq!((run.as_str(), asked), ("aaaaaa", vec![4, 5, 6]));
    assert!(store.run_directory(&run).is_dir());
}

#[test]
fn ids_that_repeat_are_given_up() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    create(&mut store, "aaaa");
    let refused = store.create_run(&new_run(), &mut |_| id("aaaa"), &[]);
    assert!(matches!(refused, Err(StoreError::NoFreeId)), "{refused:?}");
    assert_eq!(store.runs(&RunFilter::default()).unwrap().len(), 1);
    assert!(directory.path().join("runs/aaaa").is_dir(), "the other run keeps its directory");
}

#[test]
fn a_run_is_claimed_before_anybody_sees_it() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let other = Store::open(directory.path()).unwrap();
    let runs = || other.runs(&RunFilter::default()).unwrap().len();
    let mut claimed = None;
    let mut claim = |run: &Path| {
        claimed = Some((run.to_owned(), runs()));
        fs::write(run.join("lock"), "")
    };
    let run = store.create_claimed_run(&new_run(), &mut |_| id("aaaa"), &[], &mut claim).unwrap();
    assert_eq!((claimed, runs()), (Some((store.run_directory(&run), 0)), 1));
    let mut refuse = |run: &Path| {
        fs::write(run.join("lock"), "")?;
        Err(io::ErrorKind::PermissionDenied.into())
    };
    let refused = store.create_claimed_run(&new_run(), &mut |_| id("bbbb"), &[], &mut refuse);
    assert!(matches!(refused, Err(StoreError::Unwritable { .. })), "{refused:?}");
    assert_eq!((runs(), directory.path().join("runs/bbbb").exists()), (1, false));
}

#[test]
fn a_removed_run_directory_is_made_again() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = create(&mut store, "aaaa");
    fs::remove_dir_all(directory.path().join("runs")).unwrap();
    assert!(store.ensure_run_directory(&run).unwrap().is_dir());
    create(&mut store, "bbbb");
}

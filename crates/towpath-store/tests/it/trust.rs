//! Consent: to contents at a path, given again, taken back.

use crate::support::contents;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use tempfile::tempdir;
use towpath_store::{PlanHash, Store, TrustRecord};

fn record(path: &[u8], hash: u8, at_ms: i64) -> TrustRecord {
    let path = PathBuf::from(OsStr::from_bytes(path));
    TrustRecord { path, hash: PlanHash([hash; 32]), at_ms, what: format!("{hash} steps") }
}

#[test]
fn a_consent_is_to_contents_at_a_path() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let given = record(b"/shop/\xff.yaml", 1, 10);
    store.trust_add(&given).unwrap();
    assert_eq!(store.trusted(&PlanHash([1; 32])).unwrap(), Some(given.clone()));
    assert_eq!(store.trusted(&PlanHash([2; 32])).unwrap(), None);
    assert_eq!(store.trusted_at(&given.path, &given.hash).unwrap(), Some(given.clone()));
    assert_eq!(store.trusted_at(Path::new("/elsewhere"), &given.hash).unwrap(), None);
}

#[test]
fn consents_are_listed_replaced_and_taken_back() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let all = [record(b"/b", 1, 10), record(b"/a", 1, 20), record(b"/a", 2, 30)];
    for record in &all {
        store.trust_add(record).unwrap();
    }
    let again = TrustRecord { what: "as shown again".into(), ..record(b"/a", 1, 40) };
    store.trust_add(&again).unwrap();
    let expected = [again.clone(), all[2].clone(), all[0].clone()];
    assert_eq!(store.trust_list().unwrap(), expected);
    assert_eq!(store.trusted(&PlanHash([1; 32])).unwrap(), Some(again));
    assert_eq!(store.trust_remove(Path::new("/a")).unwrap(), 2);
    assert_eq!(store.trust_remove(Path::new("/a")).unwrap(), 0);
    assert_eq!(store.trust_list().unwrap(), [all[0].clone()]);
}

#[test]
fn asking_for_consent_given_writes_nothing() {
    let directory = tempdir().unwrap();
    Store::open(directory.path()).unwrap().trust_add(&record(b"/a", 1, 10)).unwrap();
    let before = contents(directory.path());
    let store = Store::open_for_reading(directory.path()).unwrap().unwrap();
    assert!(store.trusted(&PlanHash([1; 32])).unwrap().is_some());
    drop(store);
    assert_eq!(contents(directory.path()), before);
}

#[test]
fn a_hash_is_shown_in_hexadecimal() {
    let mut hash = [0; 32];
    hash[0] = 0xab;
    assert_eq!(PlanHash(hash).to_string(), format!("ab{}", "0".repeat(62)));
}

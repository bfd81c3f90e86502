//! The pause of corrections, and suggestions that were dismissed.

use tempfile::tempdir;
use towpath_store::{Pause, Store};

#[test]
fn a_pause_is_begun_changed_and_ended() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    assert_eq!(store.pause().unwrap(), None);
    for until_ms in [None, Some(90)] {
        let pause = Some(Pause { since_ms: 10, until_ms });
        store.set_pause(pause).unwrap();
        assert_eq!(store.pause().unwrap(), pause);
    }
    store.set_pause(None).unwrap();
    assert_eq!(store.pause().unwrap(), None);
}

#[test]
fn a_dismissed_suggestion_is_remembered_once() {
    let directory = tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    for key in ["b", "a", "b"] {
        store.suggestion_dismiss(key, 10).unwrap();
    }
    assert_eq!(store.dismissed_suggestions().unwrap(), ["a", "b"]);
}

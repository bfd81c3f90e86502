//! What the tests share: a run to create, facts to append, ids that are not random.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use towpath_core::RunId;
use towpath_store::{NewFact, NewRun, Store, Summary};

pub fn new_run() -> NewRun {
    NewRun {
        recipe: "ship-release".into(),
        source: "recipes/ship-release.yaml".into(),
        directory: PathBuf::from("/home/me/shop"),
        plan: "the plan".into(),
        created_ms: 1_000,
        summary: Summary { started_ms: 1_000, ..Summary::default() },
    }
}

pub fn id(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

pub fn create(store: &mut Store, name: &str) -> RunId {
    store.create_run(&new_run(), &mut |_| id(name), &[]).unwrap()
}

pub fn fact(body: &str) -> NewFact {
    NewFact::new(5, "noted", body)
}

pub fn bodies(store: &Store, run: &RunId) -> Vec<String> {
    store.facts(run).unwrap().into_iter().map(|fact| fact.body).collect()
}

/// A run named `7f3k` with one fact, closed again.
pub fn small_journal(dir: &Path) -> RunId {
    let mut store = Store::open(dir).unwrap();
    let run = create(&mut store, "7f3k");
    store.append(&run, &[fact("1")], None).unwrap();
    run
}

/// Every file below `dir` with its bytes. SQLite's shared memory is no part of the record.
pub fn contents(dir: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
            all.insert(path, None);
        } else {
            let shared = path.as_os_str().as_encoded_bytes().ends_with(b"-shm");
            let bytes = (!shared).then(|| fs::read(&path).unwrap());
            all.insert(path, bytes);
        }
    }
    all
}

/// What the thorough check finds, but for the mode of the test's own directory.
pub fn problems(store: &Store) -> Vec<String> {
    let mut found = store.integrity().unwrap();
    found.retain(|line| !line.contains("open to other users"));
    found
}

/// Moves what is in the log into the database file, so that a test can spoil it there.
pub fn checkpoint(dir: &Path) {
    let conn = rusqlite::Connection::open(dir.join("journal.db")).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

/// Small, repeatable randomness for the moments at which a test strikes.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

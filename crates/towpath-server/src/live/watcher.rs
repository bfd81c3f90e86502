//! One thread that looks many times a second whether the journal, the owner of a run or the output of
//! a running job has changed. It reads only, and decides nothing: a change is a hint to ask again.

use super::events::{Change, Events};
use crate::ServerConfig;
use crate::views::job_list::{live_size, parse_output_name};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;
use towpath_core::{RunId, StatusKind};
use towpath_engine::is_owned;
use towpath_store::Store;

const PAUSE: Duration = Duration::from_millis(40);
/// So often the file itself is looked for again: it may have been made, or replaced.
const REOPEN: u32 = 50;
/// So often the owners of runs are looked for that had none.
const EVERYBODY: u32 = 25;

/// The thread ends with the server.
pub(crate) fn start(config: &ServerConfig, events: &Arc<Events>) -> io::Result<()> {
    let (state, events) = (config.state.clone(), Arc::downgrade(events));
    let mut watcher = Watcher::new(state);
    // What was there before is no change.
    watcher.look();
    let watching = move || watcher.run(&events);
    std::thread::Builder::new().name("watcher".to_owned()).spawn(watching).map(drop)
}

/// What is known of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    status: String,
    facts: u32,
    owned: bool,
}

struct Watcher {
    state: PathBuf,
    store: Option<Store>,
    version: Option<i64>,
    runs: BTreeMap<RunId, Known>,
    /// The sizes of the outputs of running jobs.
    outputs: BTreeMap<(RunId, String), u64>,
    rounds: u32,
}

impl Watcher {
    fn new(state: PathBuf) -> Watcher {
        let (runs, outputs) = (BTreeMap::new(), BTreeMap::new());
        Watcher { state, store: None, version: None, runs, outputs, rounds: 0 }
    }

    fn run(mut self, events: &Weak<Events>) {
        loop {
            std::thread::sleep(PAUSE);
            let changes = self.look();
            let Some(events) = events.upgrade() else { return };
            events.add(changes);
        }
    }

    /// What has changed since the last look. A journal that cannot be read now may be readable soon.
    fn look(&mut self) -> Vec<Change> {
        let reopens = self.rounds.is_multiple_of(REOPEN);
        self.rounds = self.rounds.wrapping_add(1);
        if reopens || self.store.is_none() {
            self.store = Store::open_for_reading(&self.state).ok().flatten();
            self.version = None;
        }
        let Some(store) = self.store.take() else { return Vec::new() };
        let mut changes = Vec::new();
        let version = store.data_version().ok();
        let is_new = version != self.version;
        let looked = if is_new { self.runs_changed(&store, &mut changes) } else { true };
        // A run that nobody owns is owned again only by a process that records it; or it was missed.
        let all = is_new || self.rounds.is_multiple_of(EVERYBODY);
        self.owners_changed(&store, all, &mut changes);
        self.outputs_changed(&store, &mut changes);
        if looked {
            self.version = version;
            self.store = Some(store);
        }
        changes
    }

    /// Compares every run with what is known of it. False: the journal could not be read.
    fn runs_changed(&mut self, store: &Store, changes: &mut Vec<Change>) -> bool {
        let Ok(positions) = store.run_positions() else { return false };
        let mut there = BTreeSet::new();
        for position in positions {
            there.insert(position.id.clone());
            let owned = self.runs.get(&position.id).is_some_and(|known| known.owned);
            let now = Known { status: position.status, facts: position.facts, owned };
            if self.runs.get(&position.id) != Some(&now) {
                changes.push(Change::Run { run: position.id.to_string() });
                self.runs.insert(position.id, now);
            }
        }
        let removed: Vec<RunId> =
            self.runs.keys().filter(|id| !there.contains(*id)).cloned().collect();
        for id in removed {
            self.runs.remove(&id);
            changes.push(Change::RunRemoved { run: id.to_string() });
        }
        true
    }

    /// A process that is killed records nothing: its lock shows that it is gone.
    fn owners_changed(&mut self, store: &Store, all: bool, changes: &mut Vec<Change>) {
        let running = StatusKind::Running.as_str();
        for (id, known) in self.runs.iter_mut().filter(|(_, known)| all || known.owned) {
            let owned = (known.status == running || known.owned) && is_owned(store, id);
            if owned != known.owned {
                known.owned = owned;
                changes.push(Change::Run { run: id.to_string() });
            }
        }
    }

    fn outputs_changed(&mut self, store: &Store, changes: &mut Vec<Change>) {
        let mut there = BTreeMap::new();
        for (id, _) in self.runs.iter().filter(|(_, known)| known.owned) {
            for (output, bytes) in live_outputs(&store.run_directory(id)) {
                let key = (id.clone(), output);
                if self.outputs.get(&key) != Some(&bytes) {
                    let (run, output) = (id.to_string(), key.1.clone());
                    changes.push(Change::Output { run, output, bytes });
                }
                there.insert(key, bytes);
            }
        }
        self.outputs = there;
    }
}

/// The output files in a run's directory, with their sizes. Those of jobs that have ended are there, too,
/// if they are large, and do not change.
fn live_outputs(directory: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let outputs = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        parse_output_name(&name)?;
        Some((name, live_size(&entry.path())?))
    });
    outputs.collect()
}

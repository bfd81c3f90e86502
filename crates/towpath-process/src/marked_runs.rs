//! The processes of a run whose engine and warden are gone. They are found by their marker alone, looked
//! at or ended. Only processes of the same user are ever considered.

use crate::error::ProcessError;
use crate::leftover::Leftover;
use crate::os;
use crate::process_marker::Found;
use crate::process_search::{ProcessSearch, SearchScope};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use towpath_core::Secrets;

/// The longest a kill may take: processes that hang in the kernel die when they leave it. On a busy
/// machine, one that forks and exits all the time is caught only when both get processor time.
const PATIENCE: Duration = Duration::from_secs(30);

/// The ids of all runs, driven or not, of which some process lives.
pub fn marked_runs() -> BTreeSet<String> {
    let living = os::all_processes().into_iter().filter(os::Process::lives);
    let environments = living.filter_map(|process| os::environment_of(process.key.pid));
    let found = environments.filter_map(|environment| Found::read(&environment));
    found.flat_map(|found| found.runs().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What lives with this run's marker, and what that has started.
pub fn marked(run_id: &str) -> Vec<Leftover> {
    let mut search = ProcessSearch::new(SearchScope::Crashed { run_id });
    search.leftovers(&Secrets::default()).into_values().collect()
}

/// Ends, at once, every process with this run's marker and what those have started, and returns
/// what was ended, with `secrets` masked. Never touches this process, its ancestors or its own
/// children. The caller has the run's lock: no warden of this run lives.
pub fn end_marked(run_id: &str, secrets: &Secrets) -> Result<Vec<Leftover>, ProcessError> {
    let mut search = ProcessSearch::new(SearchScope::Crashed { run_id });
    let frozen = search.freeze();
    let ended: Vec<Leftover> = frozen.iter().map(|key| search.describe(*key, secrets)).collect();
    let living = search.kill_frozen(&frozen, Instant::now() + PATIENCE, &mut || {});
    match living.first() {
        None => Ok(ended),
        Some(process) => {
            let left = search.describe(process.key, secrets);
            Err(ProcessError::Survives { pid: left.pid, command: left.command })
        }
    }
}

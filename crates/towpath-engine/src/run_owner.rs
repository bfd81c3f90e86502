//! The process that owns a run: found, asked, killed. The lock makes a process the owner.

use crate::error::{EngineError, io_error};
use std::path::Path;
use std::time::Duration;
use towpath_core::RunId;
use towpath_executor::{Acquire, RunLock};
use towpath_store::Store;

pub(crate) const LOCK: &str = "lock";

/// A lock that this process has given back is still locked by a child that another thread is starting,
/// until that child executes its program.
const OWN_PATIENCE: Duration = Duration::from_secs(1);

pub(crate) fn take(
    directory: &Path,
    id: &RunId,
    patience: Duration,
) -> Result<RunLock, EngineError> {
    let path = directory.join(LOCK);
    let holder = match RunLock::try_acquire(&path).map_err(io_error(&path))? {
        Acquire::Acquired(lock) => return Ok(lock),
        Acquire::Locked(holder) => holder,
    };
    let is_own = holder.runs && holder.pid == Some(std::process::id());
    let patience = if is_own { patience.min(OWN_PATIENCE) } else { patience };
    // Another living owner is refused at once; only a dead one's warden is waited for.
    if patience.is_zero() || (holder.runs && !is_own) {
        return Err(EngineError::Owned { run: id.clone(), holder: holder.to_string() });
    }
    match RunLock::wait_acquire(&path, patience).map_err(io_error(&path))? {
        Acquire::Acquired(lock) => Ok(lock),
        // The owner is dead: what its file has of it helps nobody.
        Acquire::Locked(holder) => {
            let found = RunLock::holders(&path).first().map(|pid| format!("process {pid}"));
            let holder = found.unwrap_or_else(|| holder.to_string());
            Err(EngineError::Owned { run: id.clone(), holder })
        }
    }
}

/// Owns a run without driving it, so that nobody else does meanwhile.
pub fn lock_run(store: &Store, id: &RunId) -> Result<RunLock, EngineError> {
    take(&store.ensure_run_directory(id)?, id, Duration::ZERO)
}

/// Whether a process owns this run right now.
pub fn is_owned(store: &Store, id: &RunId) -> bool {
    owner_of(store, id).is_some()
}

/// Whether a process of this run is left, be it one that ends what a dead owner has started.
pub fn has_processes(store: &Store, id: &RunId) -> bool {
    let path = store.run_directory(id).join(LOCK);
    RunLock::holder(&path).is_some() || !RunLock::holders(&path).is_empty()
}

/// Kills the owner of a run that did not end when asked, and the run's processes with it.
pub fn end_holders(store: &Store, id: &RunId) -> Result<(), EngineError> {
    let path = store.run_directory(id).join(LOCK);
    RunLock::end_holders(&path, Duration::from_secs(5)).map_err(io_error(&path))
}

/// Sends CONT to the owner of a run that was stopped.
pub fn continue_holders(store: &Store, id: &RunId) {
    RunLock::continue_holders(&store.run_directory(id).join(LOCK));
}

/// The process that owns a run right now.
pub fn owner_of(store: &Store, id: &RunId) -> Option<towpath_executor::Holder> {
    RunLock::holder(&store.run_directory(id).join(LOCK))
}

/// The process that owns a run, or was the last to own it.
pub fn last_owner_of(store: &Store, id: &RunId) -> Option<towpath_executor::Holder> {
    RunLock::last_holder(&store.run_directory(id).join(LOCK))
}

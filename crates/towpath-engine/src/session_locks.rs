//! Locks on agent sessions: while a state machine is in one, no other process is.

use crate::error::{EngineError, io_error};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use towpath_core::{SessionId, StepPath};
use towpath_executor::{Acquire, RunLock};

/// One lock per session, freed when its holder is gone, however that ends.
#[derive(Debug, Default)]
pub(crate) struct SessionLocks {
    directory: PathBuf,
    locked: BTreeMap<Option<StepPath>, LockedSession>,
}

/// A session that a frame's calls continue.
#[derive(Debug)]
struct LockedSession {
    session: SessionId,
    /// `None` where another frame of the same run has the lock.
    lock: Option<(RunLock, PathBuf)>,
}

impl Drop for LockedSession {
    fn drop(&mut self) {
        // While it is still locked: a process that waits for this file finds it gone, and creates another.
        if let Some((_, path)) = &self.lock {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl SessionLocks {
    /// The locks of all runs are in one directory of the state directory.
    pub fn new(state: &Path) -> SessionLocks {
        SessionLocks { directory: state.join("sessions"), locked: BTreeMap::new() }
    }

    pub fn lock(
        &mut self,
        frame: Option<StepPath>,
        session: &SessionId,
    ) -> Result<(), EngineError> {
        if self.locked.get(&frame).is_some_and(|locked| locked.session == *session) {
            return Ok(());
        }
        let ours =
            self.locked.values().any(|locked| locked.session == *session && locked.lock.is_some());
        let lock = if ours { None } else { Some(self.take(session)?) };
        self.locked.insert(frame, LockedSession { session: session.clone(), lock });
        Ok(())
    }

    /// The calls of this frame no longer continue a session.
    pub fn release(&mut self, frame: &Option<StepPath>) {
        self.locked.remove(frame);
    }

    fn take(&self, session: &SessionId) -> Result<(RunLock, PathBuf), EngineError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&self.directory);
        made.map_err(io_error(&self.directory))?;
        // An id may be any text that a program calls its session.
        let name: String =
            Sha256::digest(session.as_str()).iter().map(|b| format!("{b:02x}")).collect();
        let path = self.directory.join(&name[..32]);
        match RunLock::try_acquire(&path).map_err(io_error(&path))? {
            Acquire::Acquired(lock) => Ok((lock, path)),
            Acquire::Locked(holder) => Err(EngineError::SessionLocked {
                session: session.clone(),
                holder: holder.to_string(),
            }),
        }
    }
}

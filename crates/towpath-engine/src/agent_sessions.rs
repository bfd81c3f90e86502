//! Sessions of agent calls: which call has which, what each has used so far, and that nobody else is
//! in one while a state machine is. What a session is for is decided by the run.

use crate::error::EngineError;
use crate::journal::io_error;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use towpath_core::{JobKey, SessionId, StepPath, Usage};
use towpath_executor::{Acquire, RunLock};
use towpath_run::{AgentJob, Fact};

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    /// The session of each call, by its key.
    of_call: BTreeMap<String, SessionId>,
    /// What each session had used when that was last reported.
    totals: BTreeMap<SessionId, Usage>,
    /// A session that was begun elsewhere: what it had used before is not known.
    foreign: Option<SessionId>,
    locks: SessionLocks,
}

impl Sessions {
    pub fn new(locks: SessionLocks, foreign: Option<SessionId>) -> Sessions {
        Sessions { locks, foreign, ..Sessions::default() }
    }

    /// Reads from the record which call had which session.
    pub fn replay(&mut self, facts: &[(Fact, i64)]) {
        for (fact, _) in facts {
            self.note(fact);
        }
    }

    /// Takes what a fact has of a call's session.
    pub fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::JobStarted { key, session: Some(session), .. }
            | Fact::SessionOpened { key, session } => self.opened(key, session),
            Fact::JobFinished { key, end } => {
                if let (Some(total), Some(session)) = (end.session_total, self.of(key)) {
                    self.totals.insert(session, total);
                }
            }
            _ => {}
        }
    }

    /// Notes the session of a call, for a later one that continues it.
    pub fn opened(&mut self, key: &JobKey, session: &SessionId) {
        self.of_call.insert(key.to_string(), session.clone());
    }

    pub fn of(&self, key: &JobKey) -> Option<SessionId> {
        self.of_call.get(&key.to_string()).cloned()
    }

    /// The session that a call continues.
    pub fn continued(&self, agent: &AgentJob) -> Option<SessionId> {
        let earlier = agent.continues.as_ref().and_then(|key| self.of(key));
        earlier.or_else(|| agent.session.clone())
    }

    /// What one call used, where its program only reports what the whole session did.
    pub fn used(&mut self, session: &SessionId, total: Usage) -> Usage {
        let unknown = self.foreign.as_ref() == Some(session);
        let begun = if unknown { Usage::default() } else { Usage::NOTHING };
        let before = self.totals.insert(session.clone(), total).unwrap_or(begun);
        total.since(before)
    }

    /// Keeps everybody else out of a session that a state machine's calls continue.
    pub fn lock(&mut self, key: &JobKey, session: &SessionId) -> Result<(), EngineError> {
        self.locks.lock(key.frame.clone(), session)
    }

    /// The state machine of this call begins another session.
    pub fn release(&mut self, key: &JobKey) {
        self.locks.locked.remove(&key.frame);
    }
}

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

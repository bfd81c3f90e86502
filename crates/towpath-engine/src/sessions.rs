//! Sessions of agent calls: which call has which, and what each has used so far. What a session is for is decided by the run.

use crate::error::EngineError;
use crate::session_locks::SessionLocks;
use std::collections::BTreeMap;
use towpath_core::{JobKey, SessionId, Usage};
use towpath_run::{AgentJob, Fact, JobEnd};

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

    /// Adds what a call used, where its program only reports what the whole session did.
    pub fn complete(&mut self, key: &JobKey, end: &mut JobEnd) {
        if let (Some(total), Some(session)) = (end.session_total, self.of(key)) {
            let unknown = self.foreign.as_ref() == Some(&session);
            let begun = if unknown { Usage::default() } else { Usage::NOTHING };
            let before = self.totals.insert(session, total).unwrap_or(begun);
            end.usage = Some(total.since(before));
        }
    }

    /// Keeps everybody else out of a session that a state machine's calls continue.
    pub fn lock(&mut self, key: &JobKey, session: &SessionId) -> Result<(), EngineError> {
        self.locks.lock(key.frame.clone(), session)
    }

    /// The state machine of this call begins another session.
    pub fn release(&mut self, key: &JobKey) {
        self.locks.release(&key.frame);
    }
}

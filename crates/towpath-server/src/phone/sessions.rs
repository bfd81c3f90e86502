//! The sessions that clients see: each is a conversation of a state machine, in one run or in several. A
//! conversation has the name that its client gave it. One that was begun elsewhere, or by a restart, has
//! none: its name is made from the run, and is always the same.

use super::conversation::{Exchange, exchanges};
pub(crate) use super::known_sessions::FirstSessions;
use crate::Server;
use crate::answer::Refusal;
use crate::views::journal::open;
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;
use towpath_core::RunId;
use towpath_recipe::MachineOptions;
use towpath_store::RunRow;

/// How many restarts of a run have sessions that can be found by their names.
const RESTARTS: u32 = 256;

/// The session in which a run begins.
pub(crate) fn first_session(run: &RunId, options: &MachineOptions) -> String {
    let named = options.conversation.as_ref().or(options.session.as_ref());
    named.map_or_else(|| restarted_session(run, 0), ToString::to_string)
}

/// The session of a run after so many restarts.
pub(crate) fn restarted_session(run: &RunId, restarts: u32) -> String {
    uuid(&format!("session {run} {restarts}"))
}

/// An id in the form of a UUID, always the same for the same thing.
pub(crate) fn uuid(thing: &str) -> String {
    let mut bytes = Sha256::digest(thing);
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    parts.join("-")
}

/// The part of a run that belongs to a session.
#[derive(Debug)]
pub(crate) struct SessionPart {
    pub row: RunRow,
    /// How many restarts of the run came before it.
    pub restarts: u32,
    pub exchanges: Vec<Exchange>,
}

/// A session that exists.
#[derive(Debug)]
pub(crate) struct Session {
    /// The oldest first; never empty.
    pub parts: Vec<SessionPart>,
}

impl Session {
    pub fn find(server: &Server, id: &str) -> Result<Option<Session>, Refusal> {
        let Some(store) = open(server)? else { return Ok(None) };
        let mut parts = Vec::new();
        // The version of an id that was made here.
        let is_made = id.get(14..15) == Some("8");
        for (row, first) in server.first_sessions.machines(&store)? {
            let later = |count: &u32| is_made && restarted_session(&row.id, *count) == id;
            let restarts = if first == id { Some(0) } else { (1..=RESTARTS).find(later) };
            let Some(restarts) = restarts else { continue };
            let mut exchanges = exchanges(server, &store, &row.id)?;
            exchanges.retain(|exchange| exchange.restarts == restarts);
            parts.push(SessionPart { row, restarts, exchanges });
        }
        parts.reverse();
        Ok((!parts.is_empty()).then_some(Session { parts }))
    }

    pub fn exchanges(&self) -> impl DoubleEndedIterator<Item = (&RunId, &Exchange)> {
        self.parts.iter().flat_map(|part| part.exchanges.iter().map(|one| (&part.row.id, one)))
    }

    /// The call whose session of the agent's program is continued: the last that was answered, else the
    /// last of all, whose session may be there. Only calls of this backend: no other program knows its
    /// sessions.
    pub fn last_call(&self, backend: Option<&str>) -> Option<&Exchange> {
        let is_known = |call: &&Exchange| {
            call.session.is_some() && backend.is_none_or(|id| call.backend.as_deref() == Some(id))
        };
        let calls: Vec<&Exchange> = self.exchanges().map(|(_, call)| call).collect();
        let mut calls = calls.into_iter().filter(is_known);
        calls.clone().rfind(|call| call.succeeded).or_else(|| calls.next_back())
    }

    /// Where it was last.
    pub fn directory(&self) -> PathBuf {
        self.parts.last().map(|part| part.row.directory.clone()).unwrap_or_default()
    }
}

/// The backends whose names clients write otherwise.
const PROVIDERS: [(&str, &str); 2] = [("claude", "claude-code"), ("copilot", "github-copilot")];

/// What clients call a backend.
pub(super) fn provider(backend: &str) -> &str {
    PROVIDERS.iter().find(|(_, known)| *known == backend).map_or(backend, |(provider, _)| provider)
}

/// The backend that a client means.
pub(crate) fn backend(provider: &str) -> &str {
    PROVIDERS.iter().find(|(known, _)| *known == provider).map_or(provider, |(_, backend)| backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_uuids_and_always_the_same() {
        let run = RunId::new("7f3k").expect("an id");
        let first = restarted_session(&run, 0);
        assert_eq!(first, restarted_session(&run, 0));
        assert_ne!(first, restarted_session(&run, 1));
        let dashes: Vec<usize> = first.match_indices('-').map(|(at, _)| at).collect();
        assert_eq!((first.len(), &dashes[..], &first[14..15]), (36, &[8, 13, 18, 23][..], "8"));
    }

    #[test]
    fn a_client_and_the_program_mean_the_same_backend() {
        for name in ["claude", "copilot", "cursor", "opencode"] {
            assert_eq!(provider(backend(name)), name);
        }
        assert_eq!((backend("claude"), backend("codex")), ("claude-code", "codex"));
    }
}

//! The sessions that clients see: each is a conversation of a state machine, in one run or in several. A
//! conversation has the name that its client gave it. One that was begun elsewhere, or by a restart, has
//! none: its name is made from the run, and is always the same.

use super::conversation::{Exchange, exchanges};
use super::messages::SessionEntry;
use crate::Server;
use crate::answer::Refusal;
use crate::views::journal::open;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use towpath_core::RunId;
use towpath_engine::recorded_machine_options;
use towpath_recipe::MachineOptions;
use towpath_store::{RunFilter, RunRow, Store};
use towpath_view::foreign_text::escaped;

/// How many of the newest runs are looked at.
const RUNS: u32 = 200;
/// How many sessions are listed.
const LISTED: usize = 50;
/// How many restarts of a run have sessions that can be found by their names.
const RESTARTS: u32 = 256;

/// The session in which a run begins.
pub(crate) fn first_session(run: &RunId, options: &MachineOptions) -> String {
    let named = options.conversation.as_ref().or(options.session.as_ref());
    named.map_or_else(|| restarted_session(run, 0), ToString::to_string)
}

/// The sessions in which runs begin, so that each plan is read once. The time of a run belongs to its key:
/// an id may be used again when its run was pruned.
#[derive(Debug, Default)]
pub(crate) struct FirstSessions(Mutex<BTreeMap<(RunId, i64), String>>);

impl FirstSessions {
    /// None: the plan cannot be read any more, so that the run has no conversation.
    fn of(&self, store: &Store, row: &RunRow) -> Option<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > 2 * RUNS as usize {
            known.clear();
        }
        let key = (row.id.clone(), row.created_ms);
        if let Some(session) = known.get(&key) {
            return Some(session.clone());
        }
        let options = recorded_machine_options(store, &row.id).ok()?;
        let session = first_session(&row.id, &options);
        known.insert(key, session.clone());
        Some(session)
    }
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
        for row in newest(&store)? {
            let Some(first) = server.first_sessions.of(&store, &row) else { continue };
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
    /// last of all, whose session may be there.
    pub fn last_call(&self) -> Option<&Exchange> {
        let calls: Vec<&Exchange> = self.exchanges().map(|(_, call)| call).collect();
        let mut calls = calls.into_iter().filter(|call| call.session.is_some());
        calls.clone().rfind(|call| call.succeeded).or_else(|| calls.next_back())
    }

    /// Where it was last.
    pub fn directory(&self) -> PathBuf {
        self.parts.last().map(|part| part.row.directory.clone()).unwrap_or_default()
    }
}

fn newest(store: &Store) -> Result<Vec<RunRow>, Refusal> {
    Ok(store.runs(&RunFilter { limit: Some(RUNS), ..RunFilter::default() })?)
}

/// The sessions with messages, the newest first.
pub(crate) fn list(server: &Server) -> Result<Vec<SessionEntry<i64>>, Refusal> {
    let mut entries: Vec<SessionEntry<i64>> = Vec::new();
    let Some(store) = open(server)? else { return Ok(entries) };
    for row in newest(&store)? {
        let Some(first) = server.first_sessions.of(&store, &row) else { continue };
        let Ok(calls) = exchanges(server, &store, &row.id) else { continue };
        if entries.len() >= LISTED {
            break;
        }
        let restarts = calls.last().map_or(0, |call| call.restarts);
        for restart in (0..=restarts).rev() {
            let own = || calls.iter().filter(|call| call.restarts == restart);
            let Some(last) = own().next_back() else { continue };
            let session_id = match restart {
                0 => first.clone(),
                restarts => restarted_session(&row.id, restarts),
            };
            let messages = own().count() + own().filter(|call| call.answer.is_some()).count();
            if let Some(known) = entries.iter_mut().find(|known| known.session_id == session_id) {
                known.message_count += messages;
                continue;
            }
            entries.push(SessionEntry {
                session_id,
                name: format!("{} · {}", row.recipe, row.id),
                working_directory: escaped(&row.directory),
                last_modified: last.answer.as_ref().map_or(last.started_ms, |a| a.at_ms),
                message_count: messages,
                provider: provider(last.backend.as_deref().unwrap_or_default()).to_owned(),
            });
        }
    }
    entries.truncate(LISTED);
    Ok(entries)
}

/// The backends whose names clients write otherwise.
const PROVIDERS: [(&str, &str); 2] = [("claude", "claude-code"), ("copilot", "github-copilot")];

/// What clients call a backend.
fn provider(backend: &str) -> &str {
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

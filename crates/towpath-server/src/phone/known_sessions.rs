//! What is known of the sessions of every run, so that a plan is read once, and a run is replayed only when
//! something was recorded since.

use super::conversation::{Exchange, exchanges};
use super::messages::SessionEntry;
use super::sessions::{first_session, provider, restarted_session};
use crate::Server;
use crate::answer::Refusal;
use crate::views::journal::open;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use towpath_core::RunId;
use towpath_recipe::Plan;
use towpath_store::{RunFilter, RunRow, Store};
use towpath_view::foreign_text::escaped;

/// How many sessions are listed.
const LISTED: usize = 50;

/// An id may be used again when its run was pruned; its time is another one then.
type RunKey = (RunId, i64);

#[derive(Debug, Default)]
pub(crate) struct FirstSessions {
    /// The session in which each run begins; none for a step recipe, which has no conversation.
    first: Mutex<BTreeMap<RunKey, Option<String>>>,
    listed: Mutex<BTreeMap<RunKey, RunSessions>>,
}

/// The sessions of a run when it had so many facts.
#[derive(Debug)]
struct RunSessions {
    facts: u32,
    sessions: Vec<SessionEntry<i64>>,
}

impl FirstSessions {
    /// Every run of a state machine, the newest first, with the session in which it begins.
    pub fn machines(&self, store: &Store) -> Result<Vec<(RunRow, String)>, Refusal> {
        let rows = store.runs(&RunFilter::default())?;
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        // What is not put back is of a run that is gone.
        let mut known = std::mem::take(&mut *first);
        let mut machines = Vec::new();
        for row in rows {
            let key = key(&row);
            let found = known.remove(&key).or_else(|| read_first_session(store, &row.id));
            // A plan that cannot be read has no conversation.
            let Some(session) = found else { continue };
            machines.extend(session.clone().map(|session| (row, session)));
            first.insert(key, session);
        }
        Ok(machines)
    }

    /// The sessions with messages, the newest first, and how many there are in all.
    pub fn list(&self, server: &Server) -> Result<(Vec<SessionEntry<i64>>, usize), Refusal> {
        let mut entries: Vec<SessionEntry<i64>> = Vec::new();
        let Some(store) = open(server)? else { return Ok((entries, 0)) };
        let runs = store.run_positions()?.into_iter();
        let facts: BTreeMap<RunId, u32> = runs.map(|run| (run.id, run.facts)).collect();
        let machines = self.machines(&store)?;
        let mut positions: BTreeMap<String, usize> = BTreeMap::new();
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = std::mem::take(&mut *listed);
        for (row, first) in machines {
            let facts = facts.get(&row.id).copied().unwrap_or(0);
            let unchanged = known.remove(&key(&row)).filter(|known| known.facts == facts);
            let sessions = match unchanged {
                Some(known) => known.sessions,
                None => match exchanges(server, &store, &row.id) {
                    Ok(calls) => sessions_of(&row, &first, &calls),
                    Err(_) => continue,
                },
            };
            for session in &sessions {
                let position =
                    *positions.entry(session.session_id.clone()).or_insert(entries.len());
                match entries.get_mut(position) {
                    Some(later) => later.message_count += session.message_count,
                    None => entries.push(session.clone()),
                }
            }
            listed.insert(key(&row), RunSessions { facts, sessions });
        }
        let total = entries.len();
        entries.truncate(LISTED);
        Ok((entries, total))
    }
}

fn key(row: &RunRow) -> RunKey {
    (row.id.clone(), row.created_ms)
}

/// None: the plan cannot be read. Some none: the run is of a step recipe.
fn read_first_session(store: &Store, run: &RunId) -> Option<Option<String>> {
    #[derive(Deserialize)]
    struct Record {
        plan: Plan,
    }
    let record: Record = serde_json::from_str(&store.plan(run, Some(1)).ok()?.text).ok()?;
    let session = first_session(run, &record.plan.machine);
    let program = record.plan.load().ok()?;
    Some(program.root().machine().map(|_| session))
}

/// The sessions of a run that have messages, the newest first.
fn sessions_of(row: &RunRow, first: &str, calls: &[Exchange]) -> Vec<SessionEntry<i64>> {
    let restarts = calls.last().map_or(0, |call| call.restarts);
    let entry = |restart: u32| {
        let own = || calls.iter().filter(|call| call.restarts == restart);
        let last = own().next_back()?;
        Some(SessionEntry {
            session_id: match restart {
                0 => first.to_owned(),
                restarts => restarted_session(&row.id, restarts),
            },
            name: format!("{} · {}", row.recipe, row.id),
            working_directory: escaped(&row.directory),
            last_modified: last.answer.as_ref().map_or(last.started_ms, |answer| answer.at_ms),
            message_count: own().count() + own().filter(|call| call.answer.is_some()).count(),
            provider: provider(last.backend.as_deref().unwrap_or_default()).to_owned(),
        })
    };
    (0..=restarts).rev().filter_map(entry).collect()
}

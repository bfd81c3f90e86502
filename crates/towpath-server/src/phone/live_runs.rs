//! The runs that are active, and what is sent about them to every client. It reads the journal when
//! something has changed there, and when a request must know what is true now.

use super::messages::ServerMessage;
use super::run_messages::{Published, RunMessages, restarted};
use super::sessions::{Session, first_session};
use crate::Server;
use crate::answer::Refusal;
use crate::views::journal::{now_ms, open, shown};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;
use towpath_core::RunId;
use towpath_engine::{Reporter, RunFollower, has_processes, is_owned, recorded_machine_options};
use towpath_recipe::Program;
use towpath_run::{Event, EventKind};
use towpath_store::{RunRow, Store};
use towpath_view::run_json::ShownRun;

/// How many messages a client may be behind.
const BEHIND: usize = 1024;
/// A run that has recorded its end is looked at until its processes are gone.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct LiveRuns {
    followed: Mutex<Followed>,
    news: broadcast::Sender<Published>,
}

#[derive(Debug, Default)]
struct Followed {
    /// The journal was looked at.
    looked: bool,
    /// Every run that was seen, with the number of its last fact.
    known: BTreeMap<RunId, u32>,
    runs: BTreeMap<RunId, FollowedRun>,
}

#[derive(Debug)]
struct FollowedRun {
    follower: RunFollower,
    messages: RunMessages,
    /// Its owner is gone.
    left: bool,
}

/// What is sent of what a new follower finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SendFrom {
    /// The run has just begun.
    Start,
    /// The run was resumed.
    LastStart,
    /// The run was there before: a client is sent its state.
    Now,
}

impl Default for LiveRuns {
    fn default() -> LiveRuns {
        LiveRuns { followed: Mutex::default(), news: broadcast::Sender::new(BEHIND) }
    }
}

/// Looks at the journal after every change, while there are clients.
pub(crate) async fn follow(server: Arc<Server>) {
    let mut news = server.events.subscribe();
    loop {
        let ending = server.phones.news.receiver_count() > 0 && server.phones.is_ending();
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(PAUSE), if ending => {}
        }
        if server.phones.news.receiver_count() > 0 {
            let server = Arc::clone(&server);
            // A journal that cannot be read now is read at the next change.
            let _ = tokio::task::spawn_blocking(move || server.phones.look(&server)).await;
        }
    }
}

impl LiveRuns {
    fn followed(&self) -> MutexGuard<'_, Followed> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What will be sent from now on, and the state of every active run now.
    pub fn subscribe(&self) -> (broadcast::Receiver<Published>, Vec<ServerMessage>) {
        let followed = self.followed();
        let states = followed.runs.values().filter_map(FollowedRun::state).collect();
        (self.news.subscribe(), states)
    }

    /// The state of an active session.
    pub fn state(&self, session: &str) -> Option<ServerMessage> {
        let followed = self.followed();
        let run = followed.runs.values().find(|run| run.messages.session() == session)?;
        run.state()
    }

    /// The active run of a session, by its name or by that of the agent's program.
    pub fn run_in(&self, session: &str) -> Option<RunId> {
        let followed = self.followed();
        let is_in = |run: &&FollowedRun| {
            run.messages.session() == session || run.messages.agent_sessions.contains(session)
        };
        followed.runs.values().find(is_in).map(|run| run.follower.row().id.clone())
    }

    /// Whether a run has ended and processes of it may be left.
    fn is_ending(&self) -> bool {
        self.followed().runs.values().any(|run| run.messages.ended || run.left)
    }

    /// Reads what is new, and sends it.
    pub fn look(&self, server: &Server) -> Result<(), Refusal> {
        let store = open(server)?;
        let mut followed = self.followed();
        let Some(store) = store else {
            // Whatever will be in the journal is new.
            followed.looked = true;
            return Ok(());
        };
        followed.find_new_runs(server, &store, &self.news)?;
        let ids: Vec<RunId> = followed.runs.keys().cloned().collect();
        for id in ids {
            let Some(run) = followed.runs.get_mut(&id) else { continue };
            // The lock first: whatever its owner recorded is in the journal then.
            let owned = is_owned(&store, &id);
            let published = run.poll(&store);
            send(&self.news, published.unwrap_or_default());
            run.left = !owned;
            if !owned && !has_processes(&store, &id) {
                let end = run.end(server, &store).unwrap_or_default();
                send(&self.news, end.into_iter().map(plain).collect());
                followed.runs.remove(&id);
            }
        }
        Ok(())
    }
}

fn plain(message: ServerMessage) -> Published {
    Published::Message { message, restarted: None }
}

/// Without a client there is nobody to send to.
fn send(news: &broadcast::Sender<Published>, published: Vec<Published>) {
    for one in published {
        let _ = news.send(one);
    }
}

impl Followed {
    fn find_new_runs(
        &mut self,
        server: &Server,
        store: &Store,
        news: &broadcast::Sender<Published>,
    ) -> Result<(), Refusal> {
        let first = !std::mem::replace(&mut self.looked, true);
        let positions = store.run_positions()?;
        let there: BTreeSet<&RunId> = positions.iter().map(|position| &position.id).collect();
        // The id of a run that was pruned may be used again.
        self.known.retain(|id, _| there.contains(id));
        for position in positions {
            let id = position.id;
            let before = self.known.insert(id.clone(), position.facts);
            let from = match before {
                _ if self.runs.contains_key(&id) => None,
                None if first => is_owned(store, &id).then_some(SendFrom::Now),
                None => Some(SendFrom::Start),
                Some(facts) if position.facts > facts => was_resumed(store, &id, facts)?,
                Some(_) => None,
            };
            let Some(from) = from else { continue };
            let Some(row) = store.run(&id)? else { continue };
            if let Some((run, published)) = FollowedRun::begin(server, store, row, from) {
                send(news, published);
                self.runs.insert(id, run);
            }
        }
        Ok(())
    }
}

fn was_resumed(store: &Store, id: &RunId, facts: u32) -> Result<Option<SendFrom>, Refusal> {
    let mut later = store.facts_after(id, facts)?.into_iter();
    Ok(later.any(|fact| fact.kind == "resumed").then_some(SendFrom::LastStart))
}

impl FollowedRun {
    /// None: it is no state machine, or its plan cannot be read.
    fn begin(
        server: &Server,
        store: &Store,
        row: RunRow,
        from: SendFrom,
    ) -> Option<(FollowedRun, Vec<Published>)> {
        let options = recorded_machine_options(store, &row.id).ok()?;
        let messages = RunMessages::new(row.id.clone(), first_session(&row.id, &options));
        let follower = RunFollower::new(store, row, server.config.zone.clone());
        follower.run()?.program().root().machine()?;
        let mut run = FollowedRun { follower, messages, left: false };
        let published = match from {
            SendFrom::Start => run.poll(store)?,
            SendFrom::LastStart => run.poll_from_last_start(store)?,
            SendFrom::Now => run.poll(store).map(|_| Vec::new())?,
        };
        Some((run, published))
    }

    fn program(&self) -> Option<Arc<Program>> {
        self.follower.run().map(|run| Arc::clone(run.program()))
    }

    fn state(&self) -> Option<ServerMessage> {
        self.messages.state(self.program()?.as_ref())
    }

    fn events(&mut self, store: &Store) -> Option<Vec<EventKind>> {
        let mut collected = Collected(Vec::new());
        self.follower.poll(store, &mut collected).ok()?;
        Some(collected.0)
    }

    fn poll(&mut self, store: &Store) -> Option<Vec<Published>> {
        let events = self.events(store)?;
        let program = self.program()?;
        Some(events.iter().flat_map(|event| self.messages.take(event, &program)).collect())
    }

    fn poll_from_last_start(&mut self, store: &Store) -> Option<Vec<Published>> {
        let events = self.events(store)?;
        let program = self.program()?;
        let is_start = |event: &EventKind| matches!(event, EventKind::RunStarted { .. });
        let start = events.iter().rposition(is_start).unwrap_or(events.len());
        for event in &events[..start] {
            self.messages.take(event, &program);
        }
        let later = events[start..].iter();
        Some(later.flat_map(|event| self.messages.take(event, &program)).collect())
    }

    fn end(&self, server: &Server, store: &Store) -> Result<Vec<ServerMessage>, Refusal> {
        let Some(row) = store.run(&self.follower.row().id)? else { return Ok(Vec::new()) };
        let shown = shown(server, store, row)?;
        Ok(self.messages.end(shown.run(), &why(server, &shown)))
    }
}

/// Why a run is where it is, and the command that continues it.
fn why(server: &Server, shown: &ShownRun) -> String {
    let words = (server.config.describe)(shown, now_ms());
    let next = words.resume.map_or(String::new(), |resume| format!("; to continue: {resume}"));
    format!("{}{next}", words.why)
}

/// How the last run of a session ended, for a client that may have been away then. Nothing failed just
/// now, so there is no error.
pub(crate) fn last_end(
    server: &Server,
    found: Session,
    session: &str,
) -> Result<Vec<ServerMessage>, Refusal> {
    let part = found.parts.into_iter().next_back();
    let (Some(part), Some(store)) = (part, open(server)?) else { return Ok(Vec::new()) };
    let shown = shown(server, &store, part.row)?;
    let run = shown.run();
    let mut messages = RunMessages::new(shown.row.id.clone(), session.to_owned());
    messages.ended = run.is_ended();
    let mut end = match run.machine_view() {
        Some(machine) if machine.restarts > part.restarts => restarted(session),
        _ => messages.end(run, &why(server, &shown)),
    };
    end.retain(|message| !matches!(message, ServerMessage::Error(_)));
    Ok(end)
}

/// The events that mean something to a client.
struct Collected(Vec<EventKind>);

impl Reporter for Collected {
    fn event(&mut self, event: &Event) {
        let skipped = matches!(
            event.kind,
            EventKind::Output { .. } | EventKind::Doing { .. } | EventKind::Heard { .. }
        );
        if !skipped {
            self.0.push(event.kind.clone());
        }
    }
}

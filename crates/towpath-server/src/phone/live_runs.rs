//! The runs that are active, and what is sent about them to every client. It reads the journal when
//! something has changed there, and when a request must know what is true now.

use super::exit_recipe::ExitingRuns;
use super::followed_run::{FollowedRun, SendFrom};
use super::messages::ServerMessage;
use super::run_messages::Published;
use crate::Server;
use crate::answer::Refusal;
use crate::views::journal::open;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;
use towpath_core::RunId;
use towpath_engine::{has_processes, is_owned};
use towpath_store::Store;

/// How many messages a client may be behind.
const BEHIND: usize = 1024;
/// A run that has recorded its end is looked at until its processes are gone.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct LiveRuns {
    /// Locked while the journal is read: never to be waited for in the thread that serves all
    /// connections.
    followed: Mutex<Followed>,
    /// Whether a run has ended and processes of it may be left.
    ending: AtomicBool,
    pub exiting: ExitingRuns,
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

impl Default for LiveRuns {
    fn default() -> LiveRuns {
        LiveRuns {
            followed: Mutex::default(),
            ending: AtomicBool::new(false),
            exiting: ExitingRuns::default(),
            news: broadcast::Sender::new(BEHIND),
        }
    }
}

/// Looks at the journal after every change, while there are clients.
pub(crate) async fn follow(server: Arc<Server>) {
    let mut news = server.events.subscribe();
    loop {
        let phones = &server.phones;
        let ending = phones.news.receiver_count() > 0 && phones.ending.load(Ordering::Relaxed);
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
    pub fn subscribe(
        &self,
        server: &Server,
    ) -> (broadcast::Receiver<Published>, Vec<ServerMessage>) {
        // What cannot be read now is read with the next change.
        let _ = self.look(server);
        let followed = self.followed();
        let states = followed.runs.values().filter_map(FollowedRun::state).collect();
        (self.news.subscribe(), states)
    }

    /// The state of an active session.
    pub fn state(&self, session: &str) -> Option<ServerMessage> {
        let followed = self.followed();
        followed.runs.values().find(|run| run.session() == session)?.state()
    }

    /// The active run of a session, by its name or by that of the agent's program.
    pub fn run_in(&self, session: &str) -> Option<RunId> {
        let followed = self.followed();
        followed.runs.values().find(|run| run.is_in(session)).map(|run| run.id().clone())
    }

    /// Reads what is new, and sends it.
    pub fn look(&self, server: &Server) -> Result<(), Refusal> {
        let mut followed = self.followed();
        let looked = followed.look(server, &self.news);
        let ending = followed.runs.values().any(FollowedRun::is_ending);
        self.ending.store(ending, Ordering::Relaxed);
        looked
    }
}

fn plain(message: ServerMessage) -> Published {
    Published::Message { message, restarted: None }
}

/// Without a client there is nobody to send to.
fn send(news: &broadcast::Sender<Published>, published: impl IntoIterator<Item = Published>) {
    for one in published {
        let _ = news.send(one);
    }
}

impl Followed {
    fn look(
        &mut self,
        server: &Server,
        news: &broadcast::Sender<Published>,
    ) -> Result<(), Refusal> {
        let Some(store) = open(server)? else {
            // Whatever will be in the journal is new.
            self.looked = true;
            return Ok(());
        };
        self.find_new_runs(&server.config.zone, &store, news)?;
        self.runs.retain(|id, run| {
            // The lock first: whatever its owner recorded is in the journal then.
            let owned = is_owned(&store, id);
            send(news, run.poll(&store).unwrap_or_default());
            run.left = !owned;
            let is_over = !owned && !has_processes(&store, id);
            if is_over {
                send(news, run.end(server, &store).into_iter().map(plain));
            }
            !is_over
        });
        Ok(())
    }

    fn find_new_runs(
        &mut self,
        zone: &TimeZone,
        store: &Store,
        news: &broadcast::Sender<Published>,
    ) -> Result<(), Refusal> {
        // A client that comes later gets the state of what is active then, and nothing of what was.
        let nobody_listens = !self.looked || news.receiver_count() == 0;
        let positions = store.run_positions()?;
        let there: BTreeSet<&RunId> = positions.iter().map(|position| &position.id).collect();
        // The id of a run that was pruned may be used again.
        self.known.retain(|id, _| there.contains(id));
        for position in positions {
            let id = position.id;
            let from = match self.known.get(&id) {
                Some(facts) if position.facts <= *facts => continue,
                _ if self.runs.contains_key(&id) => None,
                _ if nobody_listens => is_owned(store, &id).then_some(SendFrom::Now),
                None => Some(SendFrom::Start),
                Some(facts) => was_resumed(store, &id, *facts)?,
            };
            if let Some(from) = from
                && let Some(row) = store.run(&id)?
                && let Some((run, published)) = FollowedRun::begin(zone, store, row, from)
            {
                send(news, published);
                self.runs.insert(id.clone(), run);
            }
            self.known.insert(id, position.facts);
        }
        self.looked = true;
        Ok(())
    }
}

fn was_resumed(store: &Store, id: &RunId, facts: u32) -> Result<Option<SendFrom>, Refusal> {
    let mut later = store.facts_after(id, facts)?.into_iter();
    Ok(later.any(|fact| fact.kind == "resumed").then_some(SendFrom::LastStart))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use towpath_recipe::{Plan, PlannedRecipe};
    use towpath_store::{NewFact, NewRun, Summary};

    const MACHINE: &str = "id: ask\nlabel: Ask\ndescription: Asks.\ninitialStep: ask\nguardrails: {}\n\
                           steps:\n  ask:\n    prompt: Well?\n    outcomes: [done, other]\n    \
                           onOutcome:\n      done: { action: exit, reason: done }\n      \
                           other: { action: exit, reason: other }\n";

    fn add_run(store: &mut Store, id: &str) {
        let recipe = PlannedRecipe { text: MACHINE.to_owned(), ..PlannedRecipe::default() };
        let plan = Plan { recipes: vec![recipe], ..Plan::default() };
        let new = NewRun {
            recipe: "ask".to_owned(),
            source: "ask.yaml".to_owned(),
            directory: "/work".into(),
            plan: json!({ "plan": plan }).to_string(),
            created_ms: 1,
            summary: Summary::default(),
        };
        let id = RunId::new(id).expect("an id");
        let started = NewFact::new(2, "started", "\"Started\"");
        store.create_run(&new, &mut |_| id.clone(), &[started]).expect("a run");
    }

    #[test]
    fn what_has_ended_while_there_was_no_client_is_not_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(directory.path()).expect("a journal");
        let news = broadcast::Sender::new(BEHIND);
        let mut followed = Followed::default();
        let mut look = |store: &Store| {
            followed.find_new_runs(&TimeZone::UTC, store, &news).expect("it can be read");
            followed.runs.len()
        };
        add_run(&mut store, "1111");
        assert_eq!(look(&store), 0, "the first time");
        let client = news.subscribe();
        add_run(&mut store, "2222");
        assert_eq!(look(&store), 1, "a client is sent its start");
        drop(client);
        add_run(&mut store, "3333");
        assert_eq!(look(&store), 1, "there is nobody to send to");
        let _client = news.subscribe();
        assert_eq!(look(&store), 1, "nor does a later client hear of it");
        add_run(&mut store, "4444");
        assert_eq!(look(&store), 2);
    }
}

//! One active run: its events out of the journal, and the messages that are made of them. An error of the
//! journal loses no message: the run is read again from its beginning, and what was sent is left out.

use super::messages::ServerMessage;
use super::run_messages::{Published, RunMessages, exited, restarted};
use super::sessions::{Session, first_session};
use crate::Server;
use crate::answer::Refusal;
use crate::views::journal::{now_ms, open, shown};
use jiff::tz::TimeZone;
use std::sync::Arc;
use towpath_core::RunId;
use towpath_engine::{Reporter, RunFollower, recorded_machine_options};
use towpath_recipe::Program;
use towpath_run::{Event, EventKind};
use towpath_store::{RunRow, Store};
use towpath_view::run_json::ShownRun;

#[derive(Debug)]
pub(super) struct FollowedRun {
    follower: RunFollower,
    zone: TimeZone,
    /// How many events the follower has reported, and how many of the run's were taken.
    reported: usize,
    taken: usize,
    messages: RunMessages,
    /// Its owner is gone.
    pub left: bool,
}

/// What is sent of what a new follower finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendFrom {
    /// The run has just begun.
    Start,
    /// The run was resumed.
    LastStart,
    /// The run was there before: a client is sent its state.
    Now,
}

impl FollowedRun {
    /// None: it is no state machine, or its plan cannot be read.
    pub fn begin(
        zone: &TimeZone,
        store: &Store,
        row: RunRow,
        from: SendFrom,
    ) -> Option<(FollowedRun, Vec<Published>)> {
        let options = recorded_machine_options(store, &row.id).ok()?;
        let messages = RunMessages::new(row.id.clone(), first_session(&row.id, &options));
        let follower = RunFollower::new(store, row, zone.clone());
        follower.run()?.program().root().machine()?;
        let zone = zone.clone();
        let mut run = FollowedRun { follower, zone, reported: 0, taken: 0, messages, left: false };
        let published = match from {
            SendFrom::Start => run.poll(store)?,
            SendFrom::LastStart => run.poll_from_last_start(store)?,
            SendFrom::Now => run.poll(store).map(|_| Vec::new())?,
        };
        Some((run, published))
    }

    pub fn id(&self) -> &RunId {
        &self.follower.row().id
    }

    pub fn session(&self) -> &str {
        self.messages.session()
    }

    /// Whether it is in a session of this name, or of this name of the agent's program.
    pub fn is_in(&self, session: &str) -> bool {
        self.session() == session || self.messages.agent_sessions.contains(session)
    }

    /// Whether it has ended and processes of it may be left.
    pub fn is_ending(&self) -> bool {
        self.messages.ended || self.left
    }

    fn program(&self) -> Option<Arc<Program>> {
        self.follower.run().map(|run| Arc::clone(run.program()))
    }

    pub fn state(&self) -> Option<ServerMessage> {
        self.messages.state(self.program()?.as_ref())
    }

    /// The events that were not taken yet. None: the run cannot be read now.
    fn new_events(&mut self, store: &Store) -> Option<Vec<EventKind>> {
        for _ in 0..2 {
            let mut collected = Collected(Vec::new());
            let polled = self.follower.poll_without_output(store, &mut collected);
            if polled.is_ok() && self.follower.run().is_some() {
                let known = self.taken - self.reported;
                self.reported += collected.0.len();
                self.taken = self.taken.max(self.reported);
                return Some(collected.0.into_iter().skip(known).collect());
            }
            // It cannot report again what it has reported now.
            let row = self.follower.row().clone();
            self.follower = RunFollower::new(store, row, self.zone.clone());
            self.reported = 0;
        }
        None
    }

    /// What is new of it. None: the run cannot be read now.
    pub fn poll(&mut self, store: &Store) -> Option<Vec<Published>> {
        let events = self.new_events(store)?;
        let program = self.program()?;
        Some(events.iter().flat_map(|event| self.messages.take(event, &program)).collect())
    }

    fn poll_from_last_start(&mut self, store: &Store) -> Option<Vec<Published>> {
        let events = self.new_events(store)?;
        let program = self.program()?;
        let is_start = |event: &EventKind| matches!(event, EventKind::RunStarted { .. });
        let start = events.iter().rposition(is_start).unwrap_or(events.len());
        for event in &events[..start] {
            self.messages.take(event, &program);
        }
        let later = events[start..].iter();
        Some(later.flat_map(|event| self.messages.take(event, &program)).collect())
    }

    /// How it ended. A client waits for that, so an end that cannot be read is sent, too.
    pub fn end(&mut self, server: &Server, store: &Store) -> Vec<ServerMessage> {
        self.recorded_end(server, store).unwrap_or_else(|refusal| {
            let why = format!("the end of run {} cannot be read: {}", self.id(), refusal.message);
            exited(self.session().to_owned(), "error".to_owned(), Some(why), None)
        })
    }

    fn recorded_end(
        &mut self,
        server: &Server,
        store: &Store,
    ) -> Result<Vec<ServerMessage>, Refusal> {
        let row = store.run(self.id())?;
        let row = row.ok_or_else(|| Refusal::not_found("it was removed"))?;
        let shown = shown(server, store, row)?;
        self.messages.ended = shown.run().is_ended();
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
        self.0.push(event.kind.clone());
    }
}

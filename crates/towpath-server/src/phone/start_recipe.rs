//! Starting a recipe in a conversation: by the program's own command, which checks, refuses and reports as
//! in a terminal. One run at a time is in a conversation.

use super::messages::{ClientMessage, ServerMessage};
use super::recipes;
use super::sessions::{Session, backend, first_session};
use crate::Server;
use crate::actions::{Line, newest};
use crate::answer::Refusal;
use crate::own_program::Started;
use crate::views::journal::open;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use towpath_core::{RunId, SessionId};
use towpath_engine::{recorded_machine_options, recorded_options};
use towpath_store::RunFilter;

/// A start that takes longer is left alone.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

const LOCKED: &str = "Session is currently processing a prompt. Please wait.";
pub(super) const READ_ONLY: &str = "this server is read-only: it starts, resumes and ends nothing";

/// The sessions in which a run is being started.
#[derive(Debug, Default)]
pub(crate) struct StartingSessions(Mutex<BTreeSet<String>>);

impl StartingSessions {
    fn sessions(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends with the request.
struct Claim<'a>(&'a StartingSessions, &'a str);

impl<'a> Claim<'a> {
    fn new(starting: &'a StartingSessions, session: &'a str) -> Option<Claim<'a>> {
        let free = starting.sessions().insert(session.to_owned());
        // Made only when it is free: its end frees the session.
        free.then(|| Claim(starting, session))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.0.sessions().remove(self.1);
    }
}

/// Why nothing was started.
enum Refused {
    Locked,
    Message(ServerMessage),
    Failure(Refusal),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::Failure(refusal)
    }
}

/// Nothing when a run has begun: what is sent about it is sent to all.
pub(crate) fn start_recipe(server: &Server, asked: &ClientMessage) -> Vec<ServerMessage> {
    let missing =
        |key| vec![ServerMessage::error(format!("{key} required in start_recipe message"))];
    let Some(session) = asked.text("session_id") else { return missing("session_id") };
    let Some(recipe) = asked.text("recipe_id") else { return missing("recipe_id") };
    match begin(server, asked, session, recipe) {
        Ok(()) => Vec::new(),
        Err(Refused::Message(message)) => vec![message],
        Err(Refused::Failure(refusal)) => vec![ServerMessage::error_in(session, refusal.message)],
        // Not every client shows that a session is locked; every one shows an error.
        Err(Refused::Locked) => vec![
            ServerMessage::SessionLocked { message: LOCKED, session_id: session.to_owned() },
            ServerMessage::error_in(session, LOCKED),
        ],
    }
}

fn begin(
    server: &Server,
    asked: &ClientMessage,
    session: &str,
    recipe: &str,
) -> Result<(), Refused> {
    if server.config.read_only {
        return Err(Refused::Message(ServerMessage::error_in(session, READ_ONLY)));
    }
    let claim = Claim::new(&server.starting_sessions, session).ok_or(Refused::Locked)?;
    server.phones.look(server)?;
    let existing = Session::find(server, session)?;
    let agent = ChosenAgent::of(server, asked, existing.as_ref())?;
    let continued = existing.as_ref().and_then(|found| found.last_call(agent.backend.as_deref()));
    let agent_session = continued.and_then(|call| call.session.as_ref());
    let names = [Some(session), agent_session.map(SessionId::as_str)];
    if names.into_iter().flatten().any(|name| server.phones.run_in(name).is_some()) {
        return Err(Refused::Locked);
    }
    let directory = directory(asked, session, existing.as_ref())?;
    let Some(name) = recipes::find(server, &directory, recipe)? else {
        let message = ServerMessage::error(format!("Recipe not found: {recipe}"));
        return Err(Refused::Message(message));
    };
    let mut line = Line::new(&["run", "--quiet"]);
    line.value("--conversation", Some(session));
    line.value("--session", agent_session.map(SessionId::as_str));
    agent.add_to(&mut line, server);
    run(server, &directory, &line.last(&name), session)?;
    drop(claim);
    Ok(())
}

fn directory(
    asked: &ClientMessage,
    session: &str,
    existing: Option<&Session>,
) -> Result<PathBuf, Refused> {
    let refused = |message: String| Refused::Message(ServerMessage::error_in(session, message));
    let named = asked.text("working_directory").map(PathBuf::from);
    let Some(directory) = named.or_else(|| existing.map(Session::directory)) else {
        return Err(refused("working_directory required for new session".to_owned()));
    };
    match directory.is_absolute() && directory.is_dir() {
        true => Ok(directory),
        false => Err(refused(format!("{} is not an absolute directory", directory.display()))),
    }
}

/// The agent that is asked. Without a backend it is that of the settings.
#[derive(Debug, Default)]
struct ChosenAgent {
    backend: Option<String>,
    /// The script of an earlier run.
    script: Option<String>,
}

/// The backend of whatever a script answers.
const SCRIPTED: &str = "scripted";

impl ChosenAgent {
    fn new(backend: &str) -> ChosenAgent {
        ChosenAgent { backend: Some(backend.to_owned()), script: None }
    }

    /// The agent that the client chose; else the one that has the session; else that of the settings.
    /// Where the server has a script, that one answers everything.
    fn of(
        server: &Server,
        asked: &ClientMessage,
        existing: Option<&Session>,
    ) -> Result<ChosenAgent, Refusal> {
        if server.config.script.is_some() {
            return Ok(ChosenAgent::new(SCRIPTED));
        }
        if let Some(provider) = asked.text("provider") {
            return Ok(ChosenAgent::new(backend(provider)));
        }
        let (Some(session), Some(store)) = (existing, open(server)?) else {
            return Ok(ChosenAgent::default());
        };
        let Some(part) = session.parts.last() else { return Ok(ChosenAgent::default()) };
        let options = recorded_options(&store, &part.row.id)?;
        // A run whose steps ask no agent has none.
        let of_call = || session.last_call(None)?.backend.clone();
        Ok(ChosenAgent { backend: options.backend.or_else(of_call), script: options.script })
    }

    fn add_to(&self, line: &mut Line, server: &Server) {
        if server.config.script.is_some() {
            line.script(server);
            return;
        }
        line.value("--backend", self.backend.as_deref());
        line.value("--script", self.script.as_deref());
    }
}

/// Starts the command, and returns when its run is recorded. A command that ends without one has refused.
fn run(server: &Server, directory: &Path, line: &Line, session: &str) -> Result<(), Refused> {
    let newest = newest(server)?;
    let mut started = Started::new(server, directory, line.arguments())?;
    let until = Instant::now() + PATIENCE;
    let begun = loop {
        let ended = started.ended()?.is_some();
        let begun = has_begun(server, newest.as_ref(), session)?;
        if ended || begun || Instant::now() >= until {
            break begun;
        }
        std::thread::sleep(PAUSE);
    };
    let printed = started.stderr()?;
    started.leave();
    if !begun {
        let message = if printed.is_empty() { "it did not begin in time" } else { &printed };
        return Err(Refused::Message(ServerMessage::error_in(session, message.trim_end())));
    }
    // What a client waits for is sent now, whenever the change is noticed.
    Ok(server.phones.look(server)?)
}

/// Whether a later run than another is in the session.
fn has_begun(server: &Server, newest: Option<&RunId>, session: &str) -> Result<bool, Refusal> {
    let Some(store) = open(server)? else { return Ok(false) };
    let rows = store.runs(&RunFilter { limit: Some(16), ..RunFilter::default() })?;
    let mut later = rows.into_iter().map(|row| row.id).take_while(|id| Some(id) != newest);
    Ok(later.any(|id| {
        recorded_machine_options(&store, &id)
            .is_ok_and(|options| first_session(&id, &options) == session)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_claimed_once_until_its_claim_ends() {
        let starting = StartingSessions::default();
        let first = Claim::new(&starting, "a");
        assert!(first.is_some());
        assert!(Claim::new(&starting, "a").is_none());
        assert!(Claim::new(&starting, "a").is_none(), "a refusal frees nothing");
        assert!(Claim::new(&starting, "b").is_some());
        drop(first);
        assert!(Claim::new(&starting, "a").is_some());
    }
}

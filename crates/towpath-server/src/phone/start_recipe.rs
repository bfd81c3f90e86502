//! Starting a recipe in a conversation, and ending it: by the program's own commands, which check, refuse
//! and report as in a terminal. One run at a time is in a conversation.

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
/// The longest name of a session.
const LONGEST: usize = 128;

const LOCKED: &str = "Session is currently processing a prompt. Please wait.";
const READ_ONLY: &str = "this server is read-only: it starts, resumes and ends nothing";

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
    if session.len() > LONGEST {
        let message = format!("session_id has more than {LONGEST} bytes");
        return Err(Refused::Message(ServerMessage::error(message)));
    }
    if server.config.read_only {
        return Err(Refused::Message(ServerMessage::error_in(session, READ_ONLY)));
    }
    let claim = Claim::new(&server.starting_sessions, session).ok_or(Refused::Locked)?;
    server.phones.look(server)?;
    let existing = Session::find(server, session)?;
    let continued = existing.as_ref().and_then(Session::last_call);
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
    add_agent(server, asked, existing.as_ref(), &mut line)?;
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

/// The agent that the client chose; else the one that has the session; else that of the settings.
fn add_agent(
    server: &Server,
    asked: &ClientMessage,
    existing: Option<&Session>,
    line: &mut Line,
) -> Result<(), Refused> {
    if server.config.script.is_some() {
        line.script(server);
        return Ok(());
    }
    if let Some(provider) = asked.text("provider") {
        line.value("--backend", Some(backend(provider)));
        return Ok(());
    }
    let (Some(session), Some(store)) = (existing, open(server)?) else { return Ok(()) };
    if let Some(part) = session.parts.last() {
        let options = recorded_options(&store, &part.row.id).map_err(Refusal::from)?;
        line.value("--backend", options.backend.as_deref());
        line.value("--script", options.script.as_deref());
    }
    Ok(())
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

/// Ends the run of a session. What is sent about its end is sent to all, when its processes are gone.
pub(crate) fn exit_recipe(server: &Server, asked: &ClientMessage) -> Vec<ServerMessage> {
    let Some(session) = asked.text("session_id") else {
        return vec![ServerMessage::error("session_id required in exit_recipe message")];
    };
    match exit(server, session) {
        Ok(answers) => answers,
        Err(refusal) => vec![ServerMessage::error_in(session, refusal.message)],
    }
}

fn exit(server: &Server, session: &str) -> Result<Vec<ServerMessage>, Refusal> {
    server.phones.look(server)?;
    let Some(run) = server.phones.run_in(session) else {
        return Ok(vec![ServerMessage::RecipeExited {
            session_id: session.to_owned(),
            reason: "user-requested".to_owned(),
            error: None,
        }]);
    };
    if server.config.read_only {
        return Ok(vec![ServerMessage::error_in(session, READ_ONLY)]);
    }
    let line = Line::new(&["cancel"]).last(run.as_str());
    let mut started = Started::new(server, &server.config.directory, line.arguments())?;
    let until = Instant::now() + PATIENCE;
    let ended = loop {
        match started.ended()? {
            None if Instant::now() < until => std::thread::sleep(PAUSE),
            ended => break ended,
        }
    };
    let printed = started.stderr()?;
    started.leave();
    match ended {
        Some(status) if !status.success() => {
            Ok(vec![ServerMessage::error_in(session, printed.trim_end())])
        }
        _ => Ok(Vec::new()),
    }
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

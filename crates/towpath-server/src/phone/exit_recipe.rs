//! Ending the run of a session: by `towpath cancel`, as in a terminal. Its processes may end slowly, and no
//! thread waits for them. What is sent about the end is sent to all, when they are gone.

use super::messages::{ClientMessage, ServerMessage};
use super::start_recipe::READ_ONLY;
use crate::Server;
use crate::actions::Line;
use crate::answer::Refusal;
use crate::own_program::Started;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use towpath_core::RunId;

/// A command that takes longer is left alone.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// The runs that are being ended: whoever asks for that again waits for the same end.
#[derive(Debug, Default)]
pub(crate) struct ExitingRuns(Mutex<BTreeSet<RunId>>);

impl ExitingRuns {
    fn runs(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command that ends a run.
struct Exit {
    server: Arc<Server>,
    run: RunId,
}

impl Exit {
    /// None: another one ends the run.
    fn new(server: &Arc<Server>, run: RunId) -> Option<Exit> {
        let free = server.phones.exiting.runs().insert(run.clone());
        free.then(|| Exit { server: Arc::clone(server), run })
    }

    fn start(&self) -> Result<Started, Refusal> {
        let line = Line::new(&["cancel"]).last(self.run.as_str());
        Started::new(&self.server, &self.server.config.directory, line.arguments())
    }
}

impl Drop for Exit {
    fn drop(&mut self) {
        self.server.phones.exiting.runs().remove(&self.run);
    }
}

/// What an exit has led to at once.
enum Begun {
    Answers(Vec<ServerMessage>),
    Command(Exit, Started),
}

/// The answers to a client that ends the run of a session.
pub(crate) async fn exit_recipe(server: Arc<Server>, asked: ClientMessage) -> Vec<ServerMessage> {
    let Some(session) = asked.text("session_id").map(str::to_owned) else {
        return vec![ServerMessage::error("session_id required in exit_recipe message")];
    };
    exit(server, &session)
        .await
        .unwrap_or_else(|refusal| vec![ServerMessage::error_in(&session, refusal.message)])
}

async fn exit(server: Arc<Server>, session: &str) -> Result<Vec<ServerMessage>, Refusal> {
    let name = session.to_owned();
    let begun = tokio::task::spawn_blocking(move || begin(&server, &name)).await;
    let (exit, mut started) = match begun.map_err(Refusal::state)?? {
        Begun::Answers(answers) => return Ok(answers),
        Begun::Command(exit, started) => (exit, started),
    };
    let until = Instant::now() + PATIENCE;
    let ended = loop {
        match started.ended()? {
            None if Instant::now() < until => tokio::time::sleep(PAUSE).await,
            ended => break ended,
        }
    };
    drop(exit);
    let printed = started.stderr()?;
    started.leave();
    match ended {
        Some(status) if !status.success() => {
            Ok(vec![ServerMessage::error_in(session, printed.trim_end())])
        }
        _ => Ok(Vec::new()),
    }
}

fn begin(server: &Arc<Server>, session: &str) -> Result<Begun, Refusal> {
    server.phones.look(server)?;
    let Some(run) = server.phones.run_in(session) else {
        return Ok(Begun::Answers(vec![ServerMessage::RecipeExited {
            session_id: session.to_owned(),
            reason: "user-requested".to_owned(),
            error: None,
        }]));
    };
    if server.config.read_only {
        return Ok(Begun::Answers(vec![ServerMessage::error_in(session, READ_ONLY)]));
    }
    let Some(exit) = Exit::new(server, run) else { return Ok(Begun::Answers(Vec::new())) };
    let started = exit.start()?;
    Ok(Begun::Command(exit, started))
}

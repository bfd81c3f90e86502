//! The requests that read the journal or start a command: they wait, and are answered outside of the
//! thread that serves all connections.

use super::followed_run::last_end;
use super::history::{history, time};
use super::messages::{ClientMessage, ErrorMessage, ServerMessage, SessionEntry};
use super::recipes;
use super::sessions::Session;
use super::start_recipe::start_recipe;
use crate::Server;
use crate::answer::Refusal;
use std::path::PathBuf;

/// How many sessions are recent, unless the client wants another number.
const RECENT: u64 = 5;
const MOST_RECENT: u64 = 50;

#[derive(Debug, Clone)]
pub(crate) enum Request {
    Message(ClientMessage),
    /// What is new in a session that the client looks at.
    News {
        session: String,
        since: u64,
    },
}

/// The answers to a request; `most` bytes are the longest that the client takes.
pub(crate) fn answer(server: &Server, request: &Request, most: usize) -> Vec<ServerMessage> {
    let answered = match request {
        Request::Message(message) => answer_message(server, message, most),
        Request::News { session, since } => news(server, session, *since, most),
    };
    answered.unwrap_or_else(|refusal| vec![ServerMessage::error(refusal.message)])
}

fn answer_message(
    server: &Server,
    asked: &ClientMessage,
    most: usize,
) -> Result<Vec<ServerMessage>, Refusal> {
    match asked.kind.as_str() {
        // Who has connected is sent the lists, and what runs now.
        "connect" => {
            let mut answers = session_lists(server, asked)?;
            answers.push(ServerMessage::AvailableCommands {
                working_directory: None,
                project_commands: [],
                general_commands: [],
            });
            Ok(answers)
        }
        "refresh_sessions" => session_lists(server, asked),
        "get_available_recipes" => {
            let named = asked.text("working_directory").map(PathBuf::from);
            let named = named.filter(|directory| directory.is_absolute() && directory.is_dir());
            let directory = named.unwrap_or_else(|| server.config.directory.clone());
            let recipes = recipes::available(server, &directory)?;
            Ok(vec![ServerMessage::AvailableRecipes { recipes }])
        }
        "start_recipe" => Ok(start_recipe(server, asked)),
        "subscribe" => subscribe(server, asked, most),
        "get_command_history" => {
            let limit = asked.number("limit").unwrap_or(50);
            Ok(vec![ServerMessage::CommandHistory { sessions: [], limit }])
        }
        _ => {
            let message = format!("Unknown message type: {}", asked.written_kind());
            Ok(vec![ServerMessage::error(message)])
        }
    }
}

fn session_lists(server: &Server, asked: &ClientMessage) -> Result<Vec<ServerMessage>, Refusal> {
    let limit = asked.number("recent_sessions_limit").unwrap_or(RECENT).min(MOST_RECENT) as usize;
    let (sessions, total_count) = server.first_sessions.list(server)?;
    let recent = sessions.iter().take(limit).map(|entry| SessionEntry {
        session_id: entry.session_id.clone(),
        name: entry.name.clone(),
        working_directory: entry.working_directory.clone(),
        last_modified: time(entry.last_modified),
        message_count: entry.message_count,
        provider: entry.provider.clone(),
    });
    let recent = ServerMessage::RecentSessions { sessions: recent.collect(), limit };
    Ok(vec![ServerMessage::SessionList { sessions, total_count }, recent])
}

fn subscribe(
    server: &Server,
    asked: &ClientMessage,
    most: usize,
) -> Result<Vec<ServerMessage>, Refusal> {
    let Some(session) = asked.text("session_id") else {
        return Ok(vec![ServerMessage::error("session_id required in subscribe message")]);
    };
    let since = asked.number("last_seq");
    if since.is_none() && asked.has("last_seq") {
        return Ok(vec![ServerMessage::Error(ErrorMessage {
            code: Some("invalid_subscribe"),
            message: "last_seq must be a non-negative integer".to_owned(),
            ..ErrorMessage::default()
        })]);
    }
    let found = Session::find(server, session)?;
    let history = history(found.as_ref(), session, since.unwrap_or(0), most);
    server.phones.look(server)?;
    let state = match (server.phones.state(session), found) {
        (Some(state), _) => vec![state],
        (None, Some(found)) => last_end(server, found, session)?,
        (None, None) => Vec::new(),
    };
    Ok([ServerMessage::SessionHistory(Box::new(history))].into_iter().chain(state).collect())
}

fn news(
    server: &Server,
    session: &str,
    since: u64,
    most: usize,
) -> Result<Vec<ServerMessage>, Refusal> {
    let history = history(Session::find(server, session)?.as_ref(), session, since, most);
    let some = !history.messages.is_empty();
    Ok(some.then_some(ServerMessage::SessionHistory(Box::new(history))).into_iter().collect())
}

//! What a call shows while it runs.

use crate::activity_line;
use serde_json::Value;
use towpath_core::SessionId;

/// Something that a line of output reports while the call still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallProgress {
    /// The session's id, as soon as the program names it.
    Session(SessionId),
    /// What the agent does now, one line: `Bash cargo tree`.
    Doing(String),
    /// Of the tool use before it the whole command, where the line has only a part.
    Input(String),
    /// The change that the tool use before it makes in a file: lines that begin with a blank, `-` or `+`.
    Diff(String),
    /// The model that works, as the program names it.
    Model(String),
    /// A whole message of the agent.
    Message(String),
    /// The line that the agent is writing. All of it comes later, as a message or as the answer.
    Writing(String),
    /// The program waits and tries again by itself.
    Retrying(String),
    /// The program has printed all that it will print: its process should end by itself now.
    Complete,
}

impl CallProgress {
    /// What the agent does now, in one line.
    pub fn doing(&self) -> Option<String> {
        match self {
            CallProgress::Doing(what)
            | CallProgress::Writing(what)
            | CallProgress::Retrying(what) => Some(what.clone()),
            CallProgress::Message(text) => activity_line::last_line(text),
            CallProgress::Session(_)
            | CallProgress::Input(_)
            | CallProgress::Diff(_)
            | CallProgress::Model(_)
            | CallProgress::Complete => None,
        }
    }

    /// The model of a program's first line, where it has one.
    pub(crate) fn model(event: &Value) -> Option<CallProgress> {
        event.get("model")?.as_str().map(|model| CallProgress::Model(model.to_owned()))
    }

    /// A message as progress; none where it is blank.
    pub(crate) fn message(text: &str) -> Option<CallProgress> {
        (!text.trim().is_empty()).then(|| CallProgress::Message(text.to_owned()))
    }

    /// The id of a session as progress, where it was not known so far.
    pub(crate) fn session(known: &mut Option<SessionId>, id: Option<&str>) -> Option<CallProgress> {
        let id = SessionId::from(id.filter(|id| !id.is_empty())?);
        (known.as_ref() != Some(&id)).then(|| CallProgress::Session(known.insert(id).clone()))
    }
}

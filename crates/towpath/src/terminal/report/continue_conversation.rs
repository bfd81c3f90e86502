//! The agents' conversations of a run, and the commands that continue them by hand, in the agents'
//! own programs.

use std::path::Path;
use towpath_agent::backend_row;
use towpath_core::{FaultKind, SessionId, StepPath};
use towpath_run::{AgentCall, StepView};
use towpath_shell::bash::quote;

/// A conversation that can be continued by hand.
#[derive(Debug, PartialEq, Eq)]
pub struct ByHand {
    /// The step that used it last.
    pub step: StepPath,
    pub command: String,
}

/// Every conversation of these steps that can be continued by hand, in the order of their last use.
pub fn by_hand(steps: &[StepView], directory: &Path, current: &Path) -> Vec<ByHand> {
    let Some(prefix) = prefix(directory, current) else { return Vec::new() };
    let mut found: Vec<ByHand> = Vec::new();
    let lost = lost(steps);
    for (step, conversation) in conversations(steps) {
        if conversation.session.as_ref().is_some_and(|id| lost.contains(&id)) {
            continue;
        }
        let row = conversation.backend.as_deref().and_then(backend_row);
        let session = conversation.session.as_ref().map(|id| quote(id.as_str()));
        let command = row.zip(session).and_then(|(row, session)| row.by_hand(&session));
        let Some(command) = command.map(|command| format!("{prefix}{command}")) else { continue };
        found.retain(|known| known.command != command);
        found.push(ByHand { step: step.clone(), command });
    }
    found
}

/// The sessions that their programs do not know any more.
fn lost(steps: &[StepView]) -> Vec<&SessionId> {
    let mut found = Vec::new();
    for step in steps {
        let unknown = Some(FaultKind::UnknownSession);
        let gone = step.ended_calls().filter(|(_, end)| end.fault == unknown);
        found.extend(gone.filter_map(|(call, _)| call.session.as_ref()));
        found.extend(lost(&step.children));
    }
    found
}

fn conversations(steps: &[StepView]) -> Vec<(&StepPath, &AgentCall)> {
    let mut found = Vec::new();
    for step in steps {
        // The calls of a step that calls a recipe are those of its recovery.
        found.extend(conversations(&step.children));
        found.extend(step.calls.iter().map(|call| (&step.path, call)));
    }
    found
}

/// What goes before a command that must run where the run did; none where that is gone.
fn prefix(directory: &Path, current: &Path) -> Option<String> {
    if directory == current {
        return Some(String::new());
    }
    let shown = directory.to_str().filter(|_| directory.is_dir())?;
    Some(format!("cd {} && ", quote(shown)))
}

#[cfg(test)]
mod tests {
    use super::super::reporter_test_support::{path, pending};
    use super::*;
    use towpath_core::JobKey;

    fn step(id: &str, backend: &str, session: Option<&str>) -> StepView {
        let (backend, session) = (Some(backend.to_owned()), session.map(SessionId::from));
        let key: JobKey = format!("{id}#1.0.0:agent").parse().expect("a key");
        let call = AgentCall { key, backend, session, end: None };
        StepView { calls: vec![call], ..pending(id, "agent") }
    }

    #[test]
    fn every_conversation_once_in_the_words_of_its_program() {
        let called = step("call/ask", "codex", Some("t-1"));
        let steps = [
            step("look", "claude-code", Some("s-1")),
            StepView { children: vec![called], ..pending("call", "recipe") },
            step("fix", "claude-code", Some("s-1")),
            step("talk", "github-copilot", Some("u; rm x")),
            step("none", "gemini", None),
            step("played", "scripted", Some("s-2")),
        ];
        let here = Path::new("/");
        let found = |current: &Path| -> Vec<(StepPath, String)> {
            let found = by_hand(&steps, here, current);
            found.into_iter().map(|one| (one.step, one.command)).collect()
        };
        let expected = [
            (path("call/ask"), "codex resume t-1".to_owned()),
            (path("fix"), "claude --resume s-1".to_owned()),
            (path("talk"), "copilot --resume='u; rm x'".to_owned()),
        ];
        assert_eq!(found(here), expected);
        assert_eq!(found(Path::new("/tmp"))[0].1, "cd / && codex resume t-1");
        assert!(by_hand(&steps, Path::new("/no/such/directory"), here).is_empty());
    }
}

//! A run's events as messages. Only the run's own state machine is reported: what it calls is a part of
//! its step. The end is reported by whoever knows that the run's processes are gone.

use super::messages::ServerMessage;
use super::sessions::restarted_session;
use std::collections::BTreeSet;
use towpath_core::{RunId, StepPath};
use towpath_recipe::Program;
use towpath_run::{EventKind, FailureKind, Movement, Run, RunOutcome, StopReason};

/// What every client is sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Published {
    Message {
        message: ServerMessage,
        /// The session that this one was restarted from.
        restarted: Option<String>,
    },
    /// There is a new prompt or answer.
    Conversation { session: String },
}

/// Where a state machine is.
#[derive(Debug, Clone)]
struct Position {
    recipe: String,
    step: String,
    /// Steps entered in this session.
    count: u32,
}

#[derive(Debug)]
pub(crate) struct RunMessages {
    run: RunId,
    session: String,
    restarts: u32,
    at: Option<Position>,
    /// `recipe_started` is due, after this session.
    starts: Option<Option<String>>,
    /// The sessions of the agent's program.
    pub agent_sessions: BTreeSet<String>,
    /// Its owner has recorded the end.
    pub ended: bool,
}

impl RunMessages {
    pub fn new(run: RunId, session: String) -> RunMessages {
        RunMessages {
            run,
            session,
            restarts: 0,
            at: None,
            starts: None,
            agent_sessions: BTreeSet::new(),
            ended: false,
        }
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    /// What a client must know that comes now; none before the first step.
    pub fn state(&self, program: &Program) -> Option<ServerMessage> {
        let Position { recipe, step, count } = self.at.clone()?;
        let known = program.recipes.iter().find(|known| known.name == recipe);
        let label = known.and_then(|known| known.machine()).map(|machine| machine.label.clone());
        Some(ServerMessage::RecipeStarted {
            recipe_label: label.filter(|label| !label.is_empty()).unwrap_or_else(|| recipe.clone()),
            recipe_id: recipe,
            session_id: self.session.clone(),
            current_step: step,
            step_count: count,
        })
    }

    pub fn take(&mut self, event: &EventKind, program: &Program) -> Vec<Published> {
        match event {
            EventKind::RunStarted { .. } => {
                self.ended = false;
                self.starts = Some(None);
                // A resumed run is at its step already.
                if self.at.is_some() { self.entered(program) } else { Vec::new() }
            }
            EventKind::Entered { step, recipe, total, .. } if is_own(step) => {
                let step = step.without_visits();
                self.at = Some(Position { recipe: recipe.clone(), step, count: *total });
                self.entered(program)
            }
            EventKind::Moved { step, to } if is_own(step) => self.moved(step, to),
            EventKind::Reminded { step, error } if is_own(step) => {
                vec![message(ServerMessage::OrchestrationRetry {
                    session_id: self.session.clone(),
                    step: step.without_visits(),
                    error: error.clone(),
                })]
            }
            EventKind::CallStarted(call) if is_own(&call.step) => {
                self.agent_sessions.extend(call.session.as_ref().map(ToString::to_string));
                vec![Published::Conversation { session: self.session.clone() }]
            }
            EventKind::CallEnded(call) if is_own(&call.step) => {
                self.agent_sessions.extend(call.session.as_ref().map(ToString::to_string));
                vec![Published::Conversation { session: self.session.clone() }]
            }
            EventKind::RunEnded { .. } => {
                self.ended = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn entered(&mut self, program: &Program) -> Vec<Published> {
        let Some(Position { step, count, .. }) = self.at.clone() else { return Vec::new() };
        let restarted = self.starts.take();
        let started = restarted.and_then(|restarted| {
            Some(Published::Message { message: self.state(program)?, restarted })
        });
        let session_id = self.session.clone();
        let step = ServerMessage::RecipeStepStarted { session_id, step, step_count: count };
        started.into_iter().chain([message(step)]).collect()
    }

    fn moved(&mut self, step: &StepPath, to: &Movement) -> Vec<Published> {
        match to {
            Movement::Step(next) => vec![message(ServerMessage::RecipeStepTransition {
                session_id: self.session.clone(),
                from_step: step.without_visits(),
                to_step: next.clone(),
            })],
            Movement::Restart(_) => {
                self.restarts += 1;
                let next = restarted_session(&self.run, self.restarts);
                let session_id = std::mem::replace(&mut self.session, next);
                self.starts = Some(Some(session_id.clone()));
                restarted(&session_id).into_iter().map(message).collect()
            }
            // The processes are not gone yet.
            Movement::Exit(_) => Vec::new(),
        }
    }

    /// How the run ended. `why` describes an end that is none of the state machine's own.
    pub fn end(&self, run: &Run, why: &str) -> Vec<ServerMessage> {
        let session = self.session.clone();
        let outcome = run.outcome().filter(|_| self.ended);
        match outcome {
            Some(RunOutcome::Done) => {
                let reason = run.exit().map_or_else(|| "done".to_owned(), |exit| exit.reason);
                exited(session, reason, None, Some(false))
            }
            Some(RunOutcome::Stopped { reason: StopReason::Cancel }) => {
                exited(session, "user-requested".to_owned(), None, Some(true))
            }
            Some(RunOutcome::Failed { failure, .. }) => match failure.kind {
                FailureKind::Guardrail(_) | FailureKind::Exit => {
                    exited(session, failure.message, None, Some(false))
                }
                FailureKind::Report => {
                    let reason = "orchestration-error".to_owned();
                    exited(session, reason, Some(why.to_owned()), Some(false))
                }
                _ => exited(session, "error".to_owned(), Some(why.to_owned()), None),
            },
            _ => exited(session, "error".to_owned(), Some(why.to_owned()), None),
        }
    }
}

/// A step of the run's own recipe.
fn is_own(step: &StepPath) -> bool {
    step.frame().is_none()
}

/// The end of a session whose run continues in another one.
pub(crate) fn restarted(session: &str) -> Vec<ServerMessage> {
    exited(session.to_owned(), "restart-new-session".to_owned(), None, Some(false))
}

fn message(message: ServerMessage) -> Published {
    Published::Message { message, restarted: None }
}

/// The end of a recipe: the turn is complete, aborted or not, or there is an error.
pub(super) fn exited(
    session: String,
    reason: String,
    error: Option<String>,
    aborted: Option<bool>,
) -> Vec<ServerMessage> {
    let last = match aborted {
        Some(aborted) => ServerMessage::TurnComplete { session_id: session.clone(), aborted },
        None => ServerMessage::error_in(&session, error.clone().unwrap_or_default()),
    };
    vec![ServerMessage::RecipeExited { session_id: session, reason, error }, last]
}

//! What must be true of the agent calls and the visits of machines, checked as they happen: the numbers
//! of visits, the limits, the session that each call continues with, and what is before a prompt.

use crate::random_plan::{CONTEXT, FOREIGN};
use std::collections::BTreeMap;
use towpath_core::{JobKey, StepPath};
use towpath_recipe::MachineOptions;
use towpath_run::{AgentJob, EventKind, Movement};

/// The machines of a run as one sees them from outside.
#[derive(Debug, Default)]
pub struct Calls {
    /// By frame: the session that its machine is in.
    sessions: BTreeMap<Option<StepPath>, Session>,
    /// By frame and step: how often it was entered.
    entries: BTreeMap<(Option<StepPath>, String), u32>,
    pub restarts: u32,
    pub reminders: u32,
    pub failing_exits: u32,
}

#[derive(Debug, Default)]
struct Session {
    restarts: u32,
    last: Option<JobKey>,
    answered: bool,
    steps: u32,
    /// The step that led to a failing exit.
    gave_up: Option<String>,
}

fn id_of(step: &StepPath) -> String {
    let id = step.without_visits();
    id.rsplit('/').next().expect("a path has a last part").to_owned()
}

impl Calls {
    pub fn happened(&mut self, event: &EventKind) {
        match event {
            EventKind::Entered { step, visit, max_visits, total, max_total, .. } => {
                let frame = step.frame();
                let id = id_of(step);
                let entries = self.entries.entry((frame.clone(), id.clone())).or_default();
                *entries += 1;
                assert_eq!(*step, StepPath::in_frame(frame.as_ref(), &id, *entries), "its number");
                let session = self.sessions.entry(frame).or_default();
                // Another visit replaces the one that gave up.
                session.steps += u32::from(session.gave_up.take() != Some(id));
                assert_eq!(session.steps, *total, "{step}: the steps of its session");
                assert!(visit <= max_visits && total <= max_total, "{step}: over its limit");
            }
            EventKind::Moved { step, to: Movement::Restart(_) } => {
                self.restarts += 1;
                let session = self.sessions.entry(step.frame()).or_default();
                *session = Session { restarts: session.restarts + 1, ..Session::default() };
            }
            EventKind::Moved { step, to: Movement::Exit(exit) } if exit.ending.failed() => {
                self.failing_exits += 1;
                self.sessions.entry(step.frame()).or_default().gave_up = Some(id_of(step));
            }
            EventKind::Moved { step, to: Movement::Step(_) } => {
                self.sessions.entry(step.frame()).or_default().gave_up = None;
            }
            EventKind::Reminded { .. } => self.reminders += 1,
            _ => {}
        }
    }

    /// A machine's call starts.
    pub fn started(&mut self, key: &JobKey, agent: &AgentJob, run_options: &MachineOptions) {
        let root = key.frame.is_none();
        let session = self.sessions.entry(key.frame.clone()).or_default();
        let foreign = root && session.restarts == 0 && run_options.session.is_some();
        assert!(agent.keeps_session, "{key}");
        assert_eq!(agent.continues, session.last, "{key} continues the call before it");
        let unsure = session.last.is_some() && !session.answered && !foreign;
        assert_eq!(
            agent.may_open_session, unsure,
            "{key}: whether its session may have to be opened"
        );
        let given = (foreign && session.last.is_none()).then(|| FOREIGN.into());
        assert_eq!(agent.session, given, "{key}: the session that it is given");
        let reported = agent.prompt.starts_with(&format!("## Context\n\n{CONTEXT}\n\n---\n\n"));
        let new = run_options.context.is_some() && root && !session.answered && key.call == 0;
        assert_eq!(reported, new, "{key}: the context before a prompt");
        assert_eq!(agent.prompt.starts_with("Your previous"), key.call == 1, "{key}: a reminder");
        session.last = Some(key.clone());
    }

    pub fn answered(&mut self, key: &JobKey) {
        self.sessions.entry(key.frame.clone()).or_default().answered = true;
    }
}

//! Where a state machine is in its recipe, and what it has behind it.

use crate::failure::Failure;
use crate::machine_exit::MachineExit;
use crate::progress::Written;
use crate::step_view::StepView;
use std::collections::{BTreeMap, BTreeSet};
use towpath_core::JobKey;
use towpath_recipe::Recipe;

/// Where a machine is.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineState {
    /// The step it is at; none before the first.
    pub at: Option<usize>,
    /// Steps entered in this session, and how often each of them.
    pub total: u32,
    pub visits: Vec<u32>,
    /// How many restarts began a new session.
    pub restarts: u32,
    /// Entries of each step in this frame over the whole run, by its id.
    pub entries: BTreeMap<String, u32>,
    pub conversation: Conversation,
    /// Some step of this session has started its work.
    pub worked: bool,
    /// Visits that are over, in their order; those of this session begin at `session_start`.
    pub past: Vec<PastVisit>,
    pub session_start: usize,
    pub end: Option<MachineEnd>,
}

/// How a machine has ended.
#[derive(Debug, Clone)]
pub(crate) enum MachineEnd {
    /// By one of its own transitions.
    Exit(MachineExit),
    /// A guardrail forbids the next transition.
    Refused {
        failure: Failure,
        /// What the machine had counted then.
        reached: u32,
    },
}

/// The conversation that the agents of a machine have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    /// The last call that was started in it.
    pub last_call: Option<JobKey>,
    /// Some call of it has succeeded.
    pub established: bool,
    /// It replaces one that is lost: its first prompt begins with the record.
    pub replaces: bool,
    /// The models that steps have named in it.
    pub models: BTreeSet<String>,
}

/// A visit that is over, as it is shown: an edit of the plan may take away what it refers to.
#[derive(Debug, Clone)]
pub(crate) struct PastVisit {
    pub view: StepView,
    /// What it set, unless it failed.
    pub writes: Vec<(String, Written)>,
    /// How often the run had been resumed at its end.
    pub ended_after: u32,
}

impl MachineState {
    pub fn new(recipe: &Recipe) -> MachineState {
        MachineState { visits: vec![0; recipe.steps.len()], ..MachineState::default() }
    }

    pub fn exit(&self) -> Option<&MachineExit> {
        match &self.end {
            Some(MachineEnd::Exit(exit)) => Some(exit),
            _ => None,
        }
    }

    /// Whether it came to an end of its own that is no success.
    pub fn gave_up(&self) -> bool {
        self.exit().is_some_and(|exit| exit.ending.failed())
    }

    /// Why a guardrail or an exit of its own has made it fail.
    pub fn failure(&self) -> Option<Failure> {
        match self.end.as_ref()? {
            MachineEnd::Exit(exit) => exit.failure(),
            MachineEnd::Refused { failure, .. } => Some(failure.clone()),
        }
    }

    /// The visits of this session that are over.
    pub fn visited(&self) -> &[PastVisit] {
        &self.past[self.session_start..]
    }
}

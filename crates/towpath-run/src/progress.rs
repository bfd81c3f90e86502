//! How far a step has come in its current visit.

use crate::agent_call::{AgentCall, Reminder};
use crate::condition_value::ConditionValue;
use crate::job_end::Output;
use crate::prompt_rendering::{DocumentUse, PromptRendering};
use crate::settle::is_stopped;
use crate::step_result::{Failure, StepResult, StepStatus};
use std::collections::BTreeMap;
use towpath_core::Value;

/// How far a step has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// 0: never entered.
    pub visit: u32,
    pub phase: Phase,
    pub attempts: Attempts,
    pub result: Option<StepResult>,
    pub tolerated: bool,
    pub writes: Vec<(String, Written)>,
    pub child: Option<usize>,
    /// The documents that its agent's instructions and its prompt are made of.
    pub documents: BTreeMap<DocumentUse, PromptRendering>,
    /// What was dirty before the agent worked; known once in a visit.
    pub before: Before,
    pub staging: Staging,
    /// Where its git jobs run.
    pub directory: String,
    /// The agent calls of this visit. Only the last may be in flight.
    pub calls: Vec<AgentCall>,
    /// While the agent is asked again for what its answer lacks.
    pub reminder: Option<Reminder>,
    /// Why the called recipe failed, while an agent tries to finish its work.
    pub recovering: Option<Failure>,
    /// `pre_step` has run in this visit; it is not repeated when the work is.
    pub pre_done: bool,
    /// The work was ended from outside before it could report its result.
    pub interrupted: bool,
    /// Counted against the limits of the frames around it.
    pub counted: bool,
    /// What its condition read when it was looked at.
    pub condition_values: Vec<ConditionValue>,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// How often the run had been resumed at its end. Clocks may be set back.
    pub ended_after: u32,
    /// How long nobody drove the run since it started.
    pub paused_ms: i64,
    /// The user has declared that it has done its work.
    pub declared_done: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Pending,
    PreHook,
    /// Looking at what is dirty before the work.
    Snapshot,
    Work,
    /// An agent finishes the work of a called recipe that failed.
    Recovery,
    Staging,
    AfterHook,
    /// Waits for a rate limit or a fault that may pass; continued when the run is resumed.
    Waiting,
    /// The user must state what became of it.
    Asking,
    Settled,
}

/// The next attempt number of each kind of job, within one visit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attempts {
    pub pre: u32,
    pub work: u32,
    pub after: u32,
    pub snapshot: u32,
    pub git_add: u32,
}

/// The paths that were dirty before a step, as git quotes them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Before {
    #[default]
    NotAsked,
    /// No git repository, or one that cannot be read.
    NoGit,
    Dirty(Vec<String>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Staging {
    #[default]
    No,
    Wanted,
    Done,
}

/// What a step set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written {
    Value(Value),
    /// Its output is too large to be a value, with its length.
    Unreadable(u64),
}

impl Written {
    /// The variable of an output, or of the JSON that was found in it.
    pub fn of(output: &Output, json: Option<Value>) -> Written {
        match (json, output) {
            (Some(value), _) => Written::Value(value),
            // A step that failed without output must not leave an older value of that name.
            (None, Output::None) => Written::Value(Value::String(String::new())),
            (None, Output::Text(text)) => Written::Value(Value::String(text.clone())),
            (None, Output::OnDisk { len } | Output::TooLarge { len }) => Written::Unreadable(*len),
        }
    }
}

impl Progress {
    /// Forgets a staging that was wanted and never ran; it is wanted again.
    pub fn forget_staging(&mut self) {
        if self.staging == Staging::Wanted {
            self.staging = Staging::No;
        }
    }

    pub fn failed(&self) -> bool {
        matches!(&self.result, Some(r) if matches!(r.status, StepStatus::Failed(_)))
            && !self.tolerated
    }

    /// Ended because the run was stopped.
    pub fn stopped(&self) -> bool {
        self.result.as_ref().is_some_and(|result| is_stopped(&result.status))
    }

    pub fn executed(&self) -> bool {
        matches!(&self.result, Some(r) if !matches!(r.status, StepStatus::Skipped { .. }))
    }
}

//! How far a step has come in its current visit. Each state owns what has a meaning in it alone; what
//! stays true of the visit whatever comes next is beside it, in [`StepVisit`].

use crate::agent_call::{AgentCall, Reminder};
use crate::condition_value::ConditionValue;
use crate::failure::Failure;
use crate::job_end::Output;
use crate::prompt_rendering::{DocumentUse, PromptRendering};
use crate::step_result::{StepResult, StepStatus};
use std::collections::BTreeMap;
use towpath_core::{JobKey, JobKind, Value};

/// The current visit of a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepVisit {
    /// 0: never entered.
    pub number: u32,
    pub progress: Progress,
    pub attempts: Attempts,
    /// None before its first job.
    pub elapsed: Option<Elapsed>,
    /// The documents that its agent's instructions and its prompt are made of.
    pub documents: BTreeMap<DocumentUse, PromptRendering>,
    /// What was dirty before the agent worked; known once in a visit.
    pub before: Option<Before>,
    /// Its agent calls. Only the last may be in flight.
    pub calls: Vec<AgentCall>,
    /// While the agent is asked again for what its answer lacks.
    pub reminder: Option<Reminder>,
    /// `pre_step` has run; it is not repeated when the work is.
    pub pre_hook_ran: bool,
    /// Counted against the limits of the frames around it.
    pub counted: bool,
    /// What its condition read when it was looked at.
    pub condition_values: Vec<ConditionValue>,
}

impl StepVisit {
    /// A visit in which nothing has happened.
    pub fn new(number: u32) -> StepVisit {
        StepVisit { number, ..StepVisit::default() }
    }
}

/// How far a step has come.
#[derive(Debug, Clone, Default)]
pub(crate) enum Progress {
    /// Its turn has not come, or comes again.
    #[default]
    Pending,
    /// `pre_step` runs.
    Hook,
    Working(Activity),
    /// A rate limit or a fault that may pass has ended a call; the run is resumed later.
    Waiting(Activity),
    /// What it changed is added to git's index.
    Staging(WorkEnd),
    /// The hook that follows its work runs.
    AfterHook(WorkEnd),
    Settled(Settled),
    /// The user must state what became of it. A step of a state machine has settled before, and asks
    /// because of what it reported.
    Asking(Option<Settled>),
}

/// What a step is at.
#[derive(Debug, Clone)]
pub(crate) enum Activity {
    /// Looking at what is dirty in this directory, before an agent works there.
    Snapshot { directory: String },
    /// Its command, its agent call, or a document that the call is made of.
    Job,
    /// The called recipe, by its frame.
    Called(usize),
    /// An agent finishes the work of a called recipe that failed.
    Recovery { called: usize, failure: Failure },
}

/// What the work of a step has come to.
#[derive(Debug, Clone)]
pub(crate) struct WorkEnd {
    pub result: StepResult,
    pub writes: Vec<(String, Written)>,
    /// The frame of the recipe that it called.
    pub called: Option<usize>,
    /// It was ended from outside before it could report its result.
    pub interrupted: bool,
    /// The user has declared that it has done its work.
    pub declared_done: bool,
    pub staging: Staging,
}

/// A step that is over.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    pub end: WorkEnd,
    pub tolerated: bool,
    pub ended_ms: i64,
    /// How often the run had been resumed at its end. Clocks may be set back.
    pub ended_after: u32,
}

/// The time of a step since its first job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elapsed {
    pub started_ms: i64,
    /// How long nobody drove the run since then.
    pub paused_ms: i64,
}

/// The next attempt number of each kind of job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempts(BTreeMap<JobKind, u32>);

/// The paths that were dirty before a step, as git quotes them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Before {
    /// No git repository, or one that cannot be read.
    NoGit,
    Dirty {
        paths: Vec<String>,
        directory: String,
    },
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

impl Progress {
    /// What the work has come to, once it has ended.
    pub fn end(&self) -> Option<&WorkEnd> {
        match self {
            Progress::Staging(end)
            | Progress::AfterHook(end)
            | Progress::Settled(Settled { end, .. })
            | Progress::Asking(Some(Settled { end, .. })) => Some(end),
            _ => None,
        }
    }

    pub fn end_mut(&mut self) -> Option<&mut WorkEnd> {
        match self {
            Progress::Staging(end)
            | Progress::AfterHook(end)
            | Progress::Settled(Settled { end, .. })
            | Progress::Asking(Some(Settled { end, .. })) => Some(end),
            _ => None,
        }
    }

    /// Takes the end of the work out of a step that is about to take its next way.
    pub fn take_end(&mut self) -> Option<WorkEnd> {
        match std::mem::take(self) {
            Progress::Staging(end) | Progress::AfterHook(end) => Some(end),
            other => {
                *self = other;
                None
            }
        }
    }

    pub fn settled(&self) -> Option<&Settled> {
        match self {
            Progress::Settled(settled) | Progress::Asking(Some(settled)) => Some(settled),
            _ => None,
        }
    }

    /// Whether it is over, and nobody has to decide anything of it.
    pub fn is_settled(&self) -> bool {
        matches!(self, Progress::Settled(_))
    }

    /// The frame of the recipe that the step has called.
    pub fn called(&self) -> Option<usize> {
        match self {
            Progress::Working(activity) | Progress::Waiting(activity) => match activity {
                Activity::Called(called) | Activity::Recovery { called, .. } => Some(*called),
                Activity::Snapshot { .. } | Activity::Job => None,
            },
            _ => self.end()?.called,
        }
    }

    pub fn result(&self) -> Option<&StepResult> {
        self.end().map(|end| &end.result)
    }

    pub fn writes(&self) -> &[(String, Written)] {
        self.end().map_or(&[], |end| &end.writes)
    }

    pub fn failure(&self) -> Option<&Failure> {
        match &self.result()?.status {
            StepStatus::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    pub fn tolerated(&self) -> bool {
        self.settled().is_some_and(|settled| settled.tolerated)
    }

    pub fn failed(&self) -> bool {
        self.failure().is_some() && !self.tolerated()
    }

    /// Ended because the run was stopped.
    pub fn stopped(&self) -> bool {
        self.result().is_some_and(|result| result.status.is_stopped())
    }

    pub fn executed(&self) -> bool {
        self.result().is_some_and(|r| !matches!(r.status, StepStatus::Skipped { .. }))
    }
}

impl WorkEnd {
    pub fn new(result: StepResult, writes: Vec<(String, Written)>) -> WorkEnd {
        WorkEnd {
            result,
            writes,
            called: None,
            interrupted: false,
            declared_done: false,
            staging: Staging::No,
        }
    }
}

impl Elapsed {
    pub fn since(started_ms: i64) -> Elapsed {
        Elapsed { started_ms, paused_ms: 0 }
    }
}

impl Attempts {
    pub fn next(&self, kind: JobKind) -> u32 {
        self.0.get(&counted_as(kind)).copied().unwrap_or_default()
    }

    pub fn started(&mut self, key: &JobKey) {
        self.0.insert(counted_as(key.kind), key.attempt + 1);
    }
}

/// The work of a step has one count whoever does it, and so have the hooks after it.
fn counted_as(kind: JobKind) -> JobKind {
    match kind {
        JobKind::Agent => JobKind::Bash,
        JobKind::ErrorHook => JobKind::PostHook,
        other => other,
    }
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

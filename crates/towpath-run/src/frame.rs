//! A frame is one recipe being executed: the run's own, or one that a recipe step called.

use crate::agent_call::{AgentCall, Reminder};
use crate::fact::Output;
use crate::flow::Flow;
use crate::outcome::{Failure, FailureKind, StepResult, StepStatus};
use std::collections::BTreeMap;
use towpath_core::{Map, StepPath, Value};
use towpath_recipe::Recipe;

/// A step in its frame, by their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepAt {
    pub frame: usize,
    pub step: usize,
}

impl StepAt {
    pub fn new(frame: usize, step: usize) -> StepAt {
        StepAt { frame, step }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Path of the step that opened it; `None` for the run's own recipe.
    pub path: Option<StepPath>,
    /// The step that opened it.
    pub parent: Option<StepAt>,
    pub recipe: usize,
    pub depth: u32,
    /// Relative to the run's directory, or absolute.
    pub directory: String,
    /// What was passed in, over the recipe's own defaults.
    pub given: Map,
    pub context: Map,
    /// Whether a key `steps` of the user's own replaces ours.
    pub own_steps: bool,
    /// Names whose last output was too large to be a value, with its length.
    pub unreadable: BTreeMap<String, u64>,
    pub steps: Vec<Progress>,
    /// Executed steps, those of called recipes included.
    pub executed: u32,
    /// Those of them that guardrails bound, and not the default for recipes.
    pub in_machines: u32,
    pub state: FrameState,
    pub flow: Flow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameState {
    Open,
    /// Its time has run out; it ends when what is in flight has ended.
    Expiring,
    Done,
    Failed,
}

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
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
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
    pub stage: u32,
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
        let kind = match &self.result {
            Some(StepResult { status: StepStatus::Failed(failure), .. }) => Some(failure.kind),
            _ => None,
        };
        kind == Some(FailureKind::Stopped)
    }

    pub fn executed(&self) -> bool {
        matches!(&self.result, Some(r) if !matches!(r.status, StepStatus::Skipped { .. }))
    }
}

impl Frame {
    pub fn new(recipe: &Recipe, index: usize, given: Map) -> Frame {
        let mut frame = Frame {
            path: None,
            parent: None,
            recipe: index,
            depth: 0,
            directory: String::new(),
            own_steps: given.contains_key("steps")
                || recipe.context.contains_key("steps")
                || recipe.machine().is_some(),
            given,
            context: Map::new(),
            unreadable: BTreeMap::new(),
            steps: vec![Progress::default(); recipe.steps.len()],
            executed: 0,
            in_machines: 0,
            state: FrameState::Open,
            flow: Flow::new(recipe),
        };
        frame.reset_context(recipe);
        frame
    }

    /// The context before any step has set anything.
    pub fn reset_context(&mut self, recipe: &Recipe) {
        self.context = recipe.context.clone();
        self.context.extend(self.given.clone());
        self.unreadable.clear();
    }

    /// Puts what a settled step set into the context.
    pub fn commit(&mut self, recipe: &Recipe, index: usize) {
        let writes = self.steps[index].writes.clone();
        self.take_writes(&writes);
        let Some(result) = &self.steps[index].result else { return };
        if self.own_steps {
            return;
        }
        let mut entry = Map::new();
        entry.insert("status".into(), result.status.as_str().into());
        entry.insert("exit_code".into(), result.exit_code.map_or(Value::Null, Value::from));
        let steps = self.context.entry("steps").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(steps) = steps {
            steps.insert(recipe.steps[index].id.clone(), Value::Object(entry));
        }
    }

    pub fn take_writes(&mut self, writes: &[(String, Written)]) {
        for (name, written) in writes {
            match written {
                Written::Value(value) => {
                    self.unreadable.remove(name);
                    self.context.insert(name.clone(), value.clone());
                }
                Written::Unreadable(len) => {
                    self.context.remove(name);
                    self.unreadable.insert(name.clone(), *len);
                }
            }
        }
    }

    /// The context as a called recipe sees it: without our own `steps`.
    pub fn context_for_callee(&self) -> Map {
        let mut context = self.context.clone();
        if !self.own_steps {
            context.shift_remove("steps");
        }
        context
    }
}

//! A frame is one recipe being executed: the run's own, or one that a recipe step called.

use crate::failure::{Failure, FailureKind};
use crate::machine_state::MachineState;
use crate::progress::{StepVisit, Written};
use crate::step_count::StepCount;
use serde_json::json;
use std::collections::BTreeMap;
use towpath_core::{Map, StepPath, Value, VarPath};
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

/// Values passed into a recipe, over its own defaults.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub values: Map,
    /// A value that is too large for the caller is too large for the callee.
    pub unreadable: BTreeMap<String, u64>,
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
    pub given: Given,
    pub context: Map,
    /// `given` and `context` were dropped after its end: each call has a copy of all that was set
    /// before it.
    pub values_dropped: bool,
    /// Whether a key `steps` of the user's own replaces ours.
    pub own_steps: bool,
    /// Names whose last output was too large to be a value, with its length. `c.s` is the output `s`
    /// in what the recipe step `c` gave.
    pub unreadable: BTreeMap<String, u64>,
    pub steps: Vec<StepVisit>,
    pub count: StepCount,
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

impl Frame {
    pub fn new(recipe: &Recipe, index: usize, given: Given) -> Frame {
        let mut frame = Frame {
            path: None,
            parent: None,
            recipe: index,
            depth: 0,
            directory: String::new(),
            own_steps: given.values.contains_key("steps")
                || recipe.context.contains_key("steps")
                || recipe.machine().is_some(),
            given,
            context: Map::new(),
            values_dropped: false,
            unreadable: BTreeMap::new(),
            steps: vec![StepVisit::default(); recipe.steps.len()],
            count: StepCount::default(),
            state: FrameState::Open,
            flow: Flow::new(recipe),
        };
        frame.reset_context(recipe);
        frame
    }

    /// Whether any of its steps has run to an end.
    pub fn has_executed(&self) -> bool {
        self.steps.iter().any(|visit| visit.progress.executed())
    }

    /// The context before any step has set anything.
    pub fn reset_context(&mut self, recipe: &Recipe) {
        self.context = recipe.context.clone();
        self.context.extend(self.given.values.clone());
        self.unreadable = self.given.unreadable.clone();
    }

    /// Puts what a settled step set into the context.
    pub fn commit(&mut self, recipe: &Recipe, index: usize) {
        let Some(end) = self.steps[index].progress.end() else { return };
        let (writes, status) = (end.writes.clone(), end.result.status.as_str());
        let exit_code = end.result.exit_code;
        self.take_writes(&writes);
        if self.own_steps {
            return;
        }
        let steps = self.context.entry("steps").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(steps) = steps {
            let entry = json!({ "status": status, "exit_code": exit_code });
            steps.insert(recipe.steps[index].id.clone(), entry);
        }
    }

    pub fn take_writes(&mut self, writes: &[(String, Written)]) {
        for (name, written) in writes {
            match written {
                Written::Value(value) => {
                    self.unreadable.retain(|known, _| !is_or_is_in(known, name));
                    self.context.insert(name.clone(), value.clone());
                }
                Written::Unreadable(len) => {
                    self.context.remove(name);
                    self.unreadable.insert(name.clone(), *len);
                }
            }
        }
    }

    /// Why a path has no value: it reads an output that is none, a part of one, or what has one in it.
    pub fn unreadable(&self, path: &VarPath) -> Option<Failure> {
        let path = path.as_str();
        let reads = |name: &str| is_or_is_in(name, path) || is_or_is_in(path, name);
        let (name, len) = self.unreadable.iter().find(|(name, _)| reads(name))?;
        let message = format!(
            "reads `{name}`, whose output of {len} bytes is too large to be a value: \
             write it to a file and hand on the file's name"
        );
        Some(Failure::new(FailureKind::Value, message))
    }

    /// Drops the values of a frame that has ended. [`Run::restore_values`](crate::Run) brings them back.
    pub fn drop_values(&mut self) {
        (self.given, self.context) = (Given::default(), Map::new());
        self.unreadable.clear();
        self.values_dropped = true;
    }

    /// The values that a called recipe gets: the context without our own `steps`, under what the call sets.
    pub fn given_to_callee(&self, extra: Map) -> Given {
        let mut values = self.context.clone();
        if !self.own_steps {
            values.shift_remove("steps");
        }
        let mut unreadable = self.unreadable.clone();
        unreadable.retain(|path, _| extra.keys().all(|name| !is_or_is_in(path, name)));
        values.extend(extra);
        Given { values, unreadable }
    }
}

/// Where a frame is in its recipe.
#[derive(Debug, Clone)]
pub(crate) enum Flow {
    /// The steps run in the order of the file.
    Sequence(SequenceState),
    /// The next step is chosen by what the last one reported.
    Machine(Box<MachineState>),
}

impl Flow {
    pub fn new(recipe: &Recipe) -> Flow {
        match recipe.flow {
            towpath_recipe::Flow::Sequence => Flow::Sequence(SequenceState::default()),
            towpath_recipe::Flow::Machine(_) => Flow::Machine(Box::new(MachineState::new(recipe))),
        }
    }

    pub fn machine(&self) -> Option<&MachineState> {
        match self {
            Flow::Machine(state) => Some(state),
            Flow::Sequence(_) => None,
        }
    }

    pub fn machine_mut(&mut self) -> Option<&mut MachineState> {
        match self {
            Flow::Machine(state) => Some(state),
            Flow::Sequence(_) => None,
        }
    }
}

/// Where a sequence is.
#[derive(Debug, Clone, Default)]
pub(crate) struct SequenceState {
    /// The current batch.
    pub batch: usize,
    /// Whether its steps have begun.
    pub begun: bool,
}

/// Whether a path is a name, or leads into it.
pub(crate) fn is_or_is_in(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

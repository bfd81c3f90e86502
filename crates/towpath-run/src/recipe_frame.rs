//! A frame is one recipe being executed: the run's own, or one that a recipe step called.

use crate::sequence_or_machine_flow::Flow;
use crate::step_progress::{Progress, Written};
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

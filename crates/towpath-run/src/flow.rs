//! How a frame gets from step to step. Each kind of flow keeps a state of its own in the frame and
//! implements the same operations; [`Run::flow`] is the only dispatch between them. Another kind,
//! such as a document at the root of a plan, is a variant and an implementation of [`FlowRules`].
//! What all flows share, such as hooks, limits, staging and waiting, is in the files around this one.

use crate::failure::Failure;
use crate::frame::{Flow, Frame, FrameState, StepAt, is_or_is_in};
use crate::job_end::{JobEnd, Output};
use crate::machine::MachineRules;
use crate::machine_exit::MachineExit;
use crate::progress::{Progress, Written};
use crate::run::Run;
use crate::sequence::SequenceRules;
use crate::step_result::StepStatus;
use crate::step_view::StepView;
use towpath_core::{JobKey, Map, StepPath, Value};
use towpath_recipe::{AgentWork, Recipe};

/// What one kind of flow does where another does something else. The implementations have no state:
/// that is in the frame's [`Flow`].
pub(crate) trait FlowRules {
    /// Asks the agent of a step.
    fn begin_agent(
        &self,
        run: &mut Run,
        at: StepAt,
        agent: &AgentWork,
        extra: Map,
        directory: String,
    );

    /// Continues after a step of the frame has settled, or begins its first one.
    fn advance(&self, run: &mut Run, frame: usize);

    /// The command or agent call that is a step's work has ended.
    fn job_finished(&self, run: &mut Run, at: StepAt, key: &JobKey, end: &JobEnd);

    /// The recipe that a step called has ended.
    fn call_finished(&self, run: &mut Run, at: StepAt, call: FinishedCall);

    /// The frame was interrupted or has failed, and is open again: what is unfinished is wanted.
    fn reopen(&self, run: &mut Run, frame: usize);

    /// Runs a step again, and whatever comes after it.
    fn rerun(&self, run: &mut Run, at: StepAt);

    /// A step inside the recipe that `caller` called runs again: the frame is back at `caller`.
    fn return_to(&self, run: &mut Run, caller: StepAt);

    /// The later steps of the frame that have run and would run again after this one.
    fn rerun_later(&self, run: &Run, at: StepAt) -> Vec<StepAt>;

    /// Whether it is the turn of a step.
    fn is_current(&self, run: &Run, at: StepAt) -> bool;

    /// Sets the context of the frame from what was passed in and what its past steps have set.
    fn rebuild_context(&self, run: &mut Run, frame: usize);

    /// What the frame gives to the step that called its recipe.
    fn result(&self, run: &Run, frame: usize) -> FrameResult;

    /// Why an edited recipe of the same kind cannot replace the frame's own, step by step.
    fn edit_conflicts(
        &self,
        run: &Run,
        frame: usize,
        new: &Recipe,
    ) -> Vec<(StepPath, &'static str)>;

    /// The frame has got an edited recipe, and its steps their progress.
    fn take_edit(&self, run: &mut Run, frame: usize, old: &Recipe, new: &Recipe);

    fn view(&self, run: &Run, frame: usize) -> Vec<StepView>;
}

/// What a recipe gives to the step that called it.
#[derive(Debug, Clone)]
pub(crate) struct FrameResult {
    pub output: Output,
    pub value: Option<Value>,
    /// How a state machine ended.
    pub exit: Option<MachineExit>,
}

/// A called recipe that has ended.
pub(crate) struct FinishedCall {
    pub frame: usize,
    pub result: FrameResult,
    pub failure: Option<Failure>,
}

impl Run {
    pub(crate) fn flow(&self, frame: usize) -> &'static dyn FlowRules {
        match self.frames[frame].flow {
            Flow::Sequence(_) => &SequenceRules,
            Flow::Machine(_) => &MachineRules,
        }
    }

    /// Follows every consequence of what has changed. Works off a queue instead of recursing, so
    /// that no plan can exhaust the stack.
    pub(crate) fn advance(&mut self) {
        while let Some(frame) = self.dirty.pop_first() {
            match self.frames[frame].state {
                FrameState::Open => self.flow(frame).advance(self, frame),
                FrameState::Expiring => self.end_if_quiet(frame),
                FrameState::Done | FrameState::Failed => {}
            }
        }
    }

    /// Ends a frame and settles the step that opened it.
    pub(crate) fn close(&mut self, frame: usize, state: FrameState, failure: Option<Failure>) {
        self.frames[frame].state = state;
        if let Some(caller) = self.frames[frame].parent {
            self.call_finished(caller, frame, failure);
        }
    }

    /// Ends a frame because one of its steps has failed.
    pub(crate) fn close_failed(&mut self, at: StepAt) {
        let cause = self.visit(at).progress.failure().cloned();
        let failure = cause.map(|cause| cause.within(self.path(at)));
        self.close(at.frame, FrameState::Failed, failure);
    }

    /// A called recipe has ended.
    pub(crate) fn call_finished(&mut self, at: StepAt, frame: usize, failure: Option<Failure>) {
        if let Some(failure) = &failure
            && self.tries_recovery(at, failure)
        {
            return self.want_recovery(at, frame, failure.clone());
        }
        let result = self.flow(frame).result(self, frame);
        self.flow(at.frame).call_finished(self, at, FinishedCall { frame, result, failure });
    }

    /// What a recipe step sets: how a called state machine ended, or what the steps of a called
    /// sequence have set, and the step's own output.
    pub(crate) fn writes_of_caller(
        &self,
        caller: StepAt,
        frame: usize,
        status: &StepStatus,
        result: &FrameResult,
    ) -> Vec<(String, Written)> {
        let recipe = self.recipe(caller.frame);
        let step = &recipe.steps[caller.step];
        let id = (!recipe.context.contains_key(&step.id)).then_some(&step.id);
        if let FrameResult { exit: Some(_), value: Some(value), .. } = result {
            let names = id.into_iter().chain(&step.output);
            return names.map(|name| (name.clone(), Written::Value(value.clone()))).collect();
        }
        let set = set_by(&self.frames[frame]);
        let mut writes = Vec::new();
        if status.is_success() && step.parallel_group.is_none() {
            writes.extend(set.iter().cloned());
        }
        if let Some(id) = id {
            let (mut values, mut unreadable) = (Map::new(), Vec::new());
            for (name, written) in set {
                match written {
                    Written::Value(value) => drop(values.insert(name, value)),
                    Written::Unreadable(_) => unreadable.push((format!("{id}.{name}"), written)),
                }
            }
            writes.push((id.clone(), Written::Value(Value::Object(values))));
            writes.extend(unreadable);
        }
        if let Some(name) = &step.output {
            writes.push((name.clone(), Written::of(&result.output, result.value.clone())));
        }
        writes
    }

    /// Opens a frame that has failed or was interrupted.
    pub(crate) fn reopen(&mut self, frame: usize) {
        if self.frames[frame].state == FrameState::Done {
            return;
        }
        self.frames[frame].state = FrameState::Open;
        self.dirty.insert(frame);
        self.flow(frame).reopen(self, frame);
    }
}

/// What the steps of a frame have set, in file order, the last value of each name.
fn set_by(frame: &Frame) -> Vec<(String, Written)> {
    let mut set: Vec<(String, Written)> = Vec::new();
    for (name, written) in frame.steps.iter().flat_map(|visit| visit.progress.writes()) {
        set.retain(|(known, _)| known == name || !is_or_is_in(known, name));
        match set.iter_mut().find(|(known, _)| known == name) {
            Some((_, value)) => *value = written.clone(),
            None => set.push((name.clone(), written.clone())),
        }
    }
    set
}

/// What the step that ran last in a frame gave.
pub(crate) fn last_output(frame: &Frame) -> Output {
    let last = frame.steps.iter().map(|visit| &visit.progress).rfind(|p| p.executed());
    last.and_then(Progress::result).map_or(Output::None, |result| result.output.clone())
}

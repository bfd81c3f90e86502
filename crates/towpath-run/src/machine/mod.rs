//! State machines: the next step is chosen by what the last one reported. The run follows the
//! transitions and enforces the guardrails; the agent is asked for an outcome and for nothing else.

mod prompt;
mod recap;
mod transitions;
mod work;

use crate::agent_call::AgentCall;
use crate::failure::FailureKind;
use crate::flow::{FinishedCall, FlowRules, FrameResult, last_output};
use crate::frame::{FrameState, StepAt};
use crate::job_end::{JobEnd, Output};
use crate::machine_exit::MachineExit;
use crate::machine_state::{MachineEnd, MachineState};
use crate::progress::Progress;
use crate::run::Run;
use crate::step_view::StepView;
use towpath_core::{JobKey, Map, StepPath};
use towpath_recipe::{AgentWork, Recipe};

/// The state of the run's own machine, for display.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineView {
    pub recipe: String,
    pub step: Option<String>,
    /// In this session.
    pub steps: u32,
    pub visits: Vec<(String, u32)>,
    /// Reminders of the visit that is under way or was the last.
    pub reminders: u32,
    pub restarts: u32,
    /// Some call of this session has succeeded.
    pub session_created: bool,
    /// The call that used the session last.
    pub last_call: Option<AgentCall>,
}

pub(crate) struct MachineRules;

impl FlowRules for MachineRules {
    fn begin_agent(
        &self,
        run: &mut Run,
        at: StepAt,
        agent: &AgentWork,
        extra: Map,
        _directory: String,
    ) {
        run.ask_agent_of_machine(at, agent, extra);
    }

    fn advance(&self, run: &mut Run, frame: usize) {
        run.advance_machine(frame);
    }

    fn job_finished(&self, run: &mut Run, at: StepAt, key: &JobKey, end: &JobEnd) {
        run.machine_job_finished(at, key, end);
    }

    fn call_finished(&self, run: &mut Run, at: StepAt, call: FinishedCall) {
        run.machine_call_finished(at, call);
    }

    fn reopen(&self, run: &mut Run, frame: usize) {
        let Some(at) = run.current(frame) else { return };
        let machine = run.machine_mut(frame);
        let gave_up = machine.gave_up();
        let refused = matches!(machine.end, Some(MachineEnd::Refused { .. }));
        if gave_up || refused {
            machine.end = None;
        }
        match (&run.visit(at).progress, run.unfinished_call(at)) {
            (Progress::Settled(_), Some(called)) if gave_up => run.reopen_call(at, called),
            (Progress::Settled(_), None) if gave_up => run.revisit(at),
            (Progress::Waiting(_), _) => run.retry(at),
            _ => run.reopen_step(at),
        }
    }

    /// Goes back to a step, whatever the machine did since.
    fn rerun(&self, run: &mut Run, at: StepAt) {
        if let Some(current) = run.current(at.frame) {
            run.drop_wanted(current);
        }
        run.frames[at.frame].state = FrameState::Open;
        if matches!(run.visit(at).progress, Progress::Asking(_)) {
            run.revisit(at);
        } else {
            run.enter_machine_step(at);
        }
        run.dirty.insert(at.frame);
    }

    fn return_to(&self, run: &mut Run, caller: StepAt) {
        run.machine_mut(caller.frame).end = None;
        run.frames[caller.frame].state = FrameState::Open;
    }

    /// None: the machine continues from the step, wherever that leads.
    fn rerun_later(&self, _run: &Run, _at: StepAt) -> Vec<StepAt> {
        Vec::new()
    }

    fn is_current(&self, run: &Run, at: StepAt) -> bool {
        run.current(at.frame) == Some(at)
    }

    fn rebuild_context(&self, run: &mut Run, frame: usize) {
        let recipe = run.recipe(frame);
        let visited = run.machine(frame).visited().iter();
        let writes: Vec<_> = visited.flat_map(|visit| visit.writes.clone()).collect();
        run.frames[frame].reset_context(&recipe);
        run.frames[frame].take_writes(&writes);
    }

    /// How the machine ended, as text and as a value.
    fn result(&self, run: &Run, frame: usize) -> FrameResult {
        let Some(exit) = run.exit_of(frame) else {
            return FrameResult {
                output: last_output(&run.frames[frame]),
                value: None,
                exit: None,
            };
        };
        let value = serde_json::json!({
            "reason": exit.reason,
            "description": exit.description,
        });
        let output = Output::Text(value.to_string());
        FrameResult { output, value: Some(value), exit: Some(exit) }
    }

    /// What a machine does next may be edited freely, as long as its current step is still there.
    fn edit_conflicts(
        &self,
        run: &Run,
        frame: usize,
        new: &Recipe,
    ) -> Vec<(StepPath, &'static str)> {
        let Some(at) = run.current(frame) else { return Vec::new() };
        if new.step_index(&run.step(at).id).is_some() {
            return Vec::new();
        }
        vec![(
            run.path(at),
            "is the current step of the state machine, and is gone from the recipe",
        )]
    }

    fn take_edit(&self, run: &mut Run, frame: usize, old: &Recipe, new: &Recipe) {
        let state = run.machine_mut(frame);
        state.at = state.at.and_then(|at| new.step_index(&old.steps[at].id));
        let visits = |id: &str| old.step_index(id).map_or(0, |index| state.visits[index]);
        state.visits = new.steps.iter().map(|step| visits(&step.id)).collect();
    }

    /// The visits in their order.
    fn view(&self, run: &Run, frame: usize) -> Vec<StepView> {
        let machine = run.machine(frame);
        let past = machine.past.iter().map(|visit| {
            let ended_now = visit.view.ended_ms.is_some() && visit.ended_after == run.resumes;
            StepView { ended_now, ..visit.view.clone() }
        });
        let gave_up = machine.gave_up();
        let current = run.current(frame).map(|at| StepView { gave_up, ..run.step_view(at) });
        past.chain(current).collect()
    }
}

impl Run {
    pub fn machine_view(&self) -> Option<MachineView> {
        let state = self.frames[0].flow.machine()?;
        let recipe = self.recipe(0);
        let visited = recipe.steps.iter().zip(&state.visits).filter(|(_, visits)| **visits > 0);
        let reminders = |at: usize| {
            let calls = &self.frames[0].steps[at].calls;
            calls.iter().filter(|call| call.key.call > 0 && call.end.is_some()).count() as u32
        };
        Some(MachineView {
            recipe: recipe.name.clone(),
            step: state.at.map(|at| recipe.steps[at].id.clone()),
            steps: state.total,
            visits: visited.map(|(step, visits)| (step.id.clone(), *visits)).collect(),
            reminders: state.at.map_or(0, reminders),
            restarts: state.restarts,
            session_created: state.conversation.established,
            last_call: self.last_call(0).cloned(),
        })
    }

    /// How the run's own machine ended, in the name that its recipe or its guardrails have for it.
    pub fn exit(&self) -> Option<MachineExit> {
        self.exit_of(0)
    }

    fn exit_of(&self, frame: usize) -> Option<MachineExit> {
        let state = self.frames[frame].flow.machine()?;
        if let Some(exit) = state.exit() {
            return Some(exit.clone());
        }
        // A called machine that came to its end while the run was stopping has its own reason.
        let ended = frame != 0 && self.frames[frame].state == FrameState::Failed;
        if self.stopping.is_some() && !ended {
            return Some(MachineExit::from_outside("cancelled"));
        }
        if let Some(MachineEnd::Refused { failure, .. }) = &state.end {
            return Some(MachineExit::from_outside(&failure.message));
        }
        let failure = self.frames[frame].steps[state.at?].progress.failure()?;
        Some(MachineExit::from_outside(match failure.kind {
            FailureKind::Agent(_) => "backend-error",
            FailureKind::Stopped => "cancelled",
            _ => "orchestration-error",
        }))
    }

    /// What a machine of this run had counted when a guardrail ended it: only a higher one helps.
    pub fn reached_limit(&self) -> Option<u32> {
        let mut machines = self.frames.iter().filter_map(|frame| frame.flow.machine());
        machines.find_map(|machine| match machine.end {
            Some(MachineEnd::Refused { reached, .. }) => Some(reached),
            _ => None,
        })
    }

    /// The last call of the machine that is at work, or was: of one that another called, the inner.
    pub fn last_machine_call(&self) -> Option<JobKey> {
        let open = self.frames.iter().rev().filter(|frame| frame.state != FrameState::Done);
        let mut calls =
            open.filter_map(|frame| frame.flow.machine()?.conversation.last_call.clone());
        calls.next()
    }

    /// The last call of a machine's session.
    fn last_call(&self, frame: usize) -> Option<&AgentCall> {
        let state = self.machine(frame);
        let key = state.conversation.last_call.as_ref()?;
        let past = state.past.iter().rev().flat_map(|visit| &visit.view.calls);
        let mut calls = self.frames[frame].steps.iter().flat_map(|visit| &visit.calls).chain(past);
        calls.find(|call| call.key == *key)
    }

    /// The step that a machine is at.
    pub(crate) fn current(&self, frame: usize) -> Option<StepAt> {
        self.machine(frame).at.map(|step| StepAt::new(frame, step))
    }

    pub(crate) fn machine(&self, frame: usize) -> &MachineState {
        self.frames[frame].flow.machine().expect("asked of a machine's frame only")
    }

    pub(crate) fn machine_mut(&mut self, frame: usize) -> &mut MachineState {
        self.frames[frame].flow.machine_mut().expect("asked of a machine's frame only")
    }
}

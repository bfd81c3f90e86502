//! State machines: the next step is chosen by what the last one reported. The run follows the
//! transitions and enforces the guardrails; the agent is asked for an outcome and for nothing else.

mod prompt;
mod recap;
mod reported;
mod transitions;
mod work;

pub use reported::{Misreport, MisreportKind, Reported, read_report, without_report};

use crate::agent_call::AgentCall;
use crate::flow::{FinishedCall, FlowRules, FrameResult, last_output};
use crate::frame::{FrameState, StepAt};
use crate::job_end::JobEnd;
use crate::job_timeout::MACHINE_CALL_TIMEOUT;
use crate::progress::{Phase, Progress};
use crate::run::Run;
use crate::step_result::{Failure, FailureKind, StepStatus};
use crate::step_view::{StepState, StepView};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use towpath_core::{JobKey, StepPath};
use towpath_recipe::{Ending, Recipe, StepKind};

/// How a machine came to its end by one of its own transitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineExit {
    pub reason: String,
    /// What the last outcome reported beyond its name.
    pub description: Option<String>,
    #[serde(default)]
    pub ending: Ending,
}

impl MachineExit {
    /// An end that no transition of the machine has chosen.
    fn from_outside(reason: &str) -> MachineExit {
        MachineExit { reason: reason.to_owned(), description: None, ending: Ending::Fail }
    }

    /// The failure of a machine that ended like this; none for a success or a question.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let detail = self.description.clone().unwrap_or_default();
        let failure = || Failure { detail, ..Failure::new(FailureKind::Exit, &*self.reason) };
        self.ending.failed().then(failure)
    }
}

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
    /// The last call that was started in this session, and whether any of them succeeded.
    pub last_call: Option<JobKey>,
    pub established: bool,
    /// The session replaces one that is lost: its first prompt begins with the record.
    pub is_new: bool,
    /// The models that steps of this session have named.
    pub models: BTreeSet<String>,
    /// Some step of this session has started its work.
    pub worked: bool,
    /// Visits that are over, in their order; those of this session begin at `session_start`.
    pub past: Vec<PastVisit>,
    pub session_start: usize,
    pub exit: Option<MachineExit>,
    pub refused: Option<Refusal>,
}

/// A visit that is over.
#[derive(Debug, Clone)]
pub(crate) struct PastVisit {
    pub path: StepPath,
    pub id: String,
    pub kind: StepKind,
    pub progress: Progress,
    /// How many restarts came before it.
    pub restarts: u32,
    /// The steps of the recipe that it called, as they ended: an edit of the plan may take that
    /// recipe away.
    pub children: Vec<StepView>,
}

/// The guardrail that forbids the next transition.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub failure: Failure,
    /// What the machine had counted then.
    pub reached: u32,
}

impl MachineState {
    pub fn new(recipe: &Recipe) -> MachineState {
        MachineState { visits: vec![0; recipe.steps.len()], ..MachineState::default() }
    }
}

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
    fn begin(&self, run: &mut Run, at: StepAt) {
        run.begin_machine_step(at);
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
        run.machine_mut(frame).refused = None;
        let exit = &mut run.machine_mut(frame).exit;
        let gave_up = exit.take_if(|exit| exit.ending.failed()).is_some();
        let progress = run.progress(at);
        let unfinished = progress.child.filter(|c| run.frames[*c].state != FrameState::Done);
        match progress.phase {
            Phase::Settled if progress.failed() || gave_up => match unfinished {
                Some(child) => {
                    run.back_to_work(at);
                    run.reopen(child);
                }
                None if gave_up => run.revisit(at),
                None => run.retry_or_ask(at),
            },
            Phase::Waiting => run.retry_or_ask(at),
            Phase::Work if progress.child.is_some() => {
                if let Some(child) = unfinished {
                    run.reopen(child);
                }
            }
            Phase::Pending | Phase::Work if !run.is_wanted(at) => run.retry(at),
            _ => {}
        }
    }

    /// Goes back to a step, whatever the machine did since.
    fn rerun(&self, run: &mut Run, at: StepAt) {
        if let Some(current) = run.current(at.frame) {
            run.drop_wanted(current);
        }
        run.frames[at.frame].state = FrameState::Open;
        if run.progress(at).phase == Phase::Asking {
            run.revisit(at);
        } else {
            run.enter_machine_step(at);
        }
        run.dirty.insert(at.frame);
    }

    fn return_to(&self, run: &mut Run, caller: StepAt) {
        run.machine_mut(caller.frame).exit = None;
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
        let state = run.machine(frame);
        let visits = state.past[state.session_start..].iter();
        let succeeded = visits.filter(|visit| !visit.progress.failed());
        let writes: Vec<_> = succeeded.flat_map(|visit| visit.progress.writes.clone()).collect();
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
        let output = crate::job_end::Output::Text(value.to_string());
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
        let past = run.machine(frame).past.iter().map(|visit| {
            let (path, id) = (visit.path.clone(), visit.id.clone());
            StepView {
                children: visit.children.clone(),
                restarts: visit.restarts,
                ..run.visit_view(frame, path, id, visit.kind, &visit.progress, StepState::Ended)
            }
        });
        let gave_up = run.machine(frame).exit.as_ref().is_some_and(|exit| exit.ending.failed());
        let current = run.current(frame).map(|at| StepView { gave_up, ..run.step_view(at) });
        past.chain(current).collect()
    }

    fn agent_timeout(&self) -> Duration {
        MACHINE_CALL_TIMEOUT
    }

    fn has_guardrails(&self) -> bool {
        true
    }

    fn call_started(&self, run: &mut Run, at: StepAt, key: &JobKey) {
        run.machine_mut(at.frame).last_call = Some(key.clone());
    }

    fn step_started(&self, run: &mut Run, at: StepAt) {
        run.machine_mut(at.frame).worked = true;
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
            session_created: state.established,
            last_call: self.last_call(0).cloned(),
        })
    }

    /// How the run's own machine ended, in the name that its recipe or its guardrails have for it.
    pub fn exit(&self) -> Option<MachineExit> {
        self.exit_of(0)
    }

    fn exit_of(&self, frame: usize) -> Option<MachineExit> {
        let state = self.frames[frame].flow.machine()?;
        if state.exit.is_some() {
            return state.exit.clone();
        }
        // A called machine that came to its end while the run was stopping has its own reason.
        let ended = frame != 0 && self.frames[frame].state == FrameState::Failed;
        if self.stopping.is_some() && !ended {
            return Some(MachineExit::from_outside("cancelled"));
        }
        if let Some(refused) = &state.refused {
            return Some(MachineExit::from_outside(&refused.failure.message));
        }
        match &self.frames[frame].steps[state.at?].result.as_ref()?.status {
            StepStatus::Failed(failure) => Some(MachineExit::from_outside(match failure.kind {
                FailureKind::Agent(_) => "backend-error",
                FailureKind::Stopped => "cancelled",
                _ => "orchestration-error",
            })),
            _ => None,
        }
    }

    /// What a machine of this run had counted when a guardrail ended it: only a higher one helps.
    pub fn reached_limit(&self) -> Option<u32> {
        let mut machines = self.frames.iter().filter_map(|frame| frame.flow.machine());
        machines.find_map(|machine| machine.refused.as_ref()).map(|refused| refused.reached)
    }

    /// The last call of the machine that is at work, or was: of one that another called, the inner.
    pub fn last_machine_call(&self) -> Option<JobKey> {
        let open = self.frames.iter().rev().filter(|frame| frame.state != FrameState::Done);
        let mut calls = open.filter_map(|frame| frame.flow.machine()?.last_call.clone());
        calls.next()
    }

    /// The last call of a machine's session.
    fn last_call(&self, frame: usize) -> Option<&AgentCall> {
        let state = self.machine(frame);
        let key = state.last_call.as_ref()?;
        let past = state.past.iter().rev().map(|visit| &visit.progress);
        let visits = self.frames[frame].steps.iter().chain(past);
        visits.flat_map(|progress| &progress.calls).find(|call| call.key == *key)
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

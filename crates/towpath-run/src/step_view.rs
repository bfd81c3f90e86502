//! The run as it is shown: every step in file order, called recipes below their step.

use crate::agent_call::{AgentCall, CallEnd};
use crate::frame::{FrameState, StepAt};
use crate::progress::{Phase, Progress};
use crate::run::Run;
use crate::step_result::StepResult;
use serde::{Deserialize, Serialize};
use towpath_core::StepPath;
use towpath_recipe::{ParseJson, StepKind};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    pub path: StepPath,
    pub id: String,
    pub kind: StepKind,
    /// 0 for the run's own recipe.
    pub depth: u32,
    pub state: StepState,
    pub tolerated: bool,
    /// The JSON in its output is its value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gives_json: bool,
    /// Its outcome failed the state machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gave_up: bool,
    pub result: Option<StepResult>,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// It ended since the run was resumed last.
    #[serde(skip)]
    pub ended_now: bool,
    /// How long nobody drove the run between its start and its end.
    #[serde(default, skip_serializing_if = "is_none_paused")]
    pub paused_ms: i64,
    /// The user has declared that it has done its work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared_done: bool,
    /// How often its work has been started in this visit.
    pub attempts: u32,
    /// How many restarts of its state machine came before this visit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u32,
    /// Its agent calls. Only the last may be in flight.
    pub calls: Vec<AgentCall>,
    pub children: Vec<StepView>,
}

impl StepView {
    /// How long it took, once it has ended.
    pub fn took_ms(&self) -> Option<i64> {
        Some(self.ended_ms? - self.started_ms? - self.paused_ms)
    }
}

fn is_none_paused(paused_ms: &i64) -> bool {
    *paused_ms == 0
}

fn is_zero(restarts: &u32) -> bool {
    *restarts == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepState {
    /// Not begun, and may still be.
    Pending,
    /// Not begun, and never will be: the recipe has ended before it.
    NotReached,
    Running,
    /// Started by an owner that is gone.
    Interrupted,
    Waiting,
    Asking,
    Ended,
}

impl StepView {
    /// Its agent calls that have ended, each with its end.
    pub fn ended_calls(&self) -> impl Iterator<Item = (&AgentCall, &CallEnd)> {
        self.calls.iter().filter_map(|call| Some((call, call.end.as_ref()?)))
    }
}

impl Run {
    pub fn view(&self) -> Vec<StepView> {
        self.frame_view(0)
    }

    pub(crate) fn frame_view(&self, frame: usize) -> Vec<StepView> {
        self.flow(frame).view(self, frame)
    }

    pub(crate) fn step_view(&self, at: StepAt) -> StepView {
        let progress = self.progress(at);
        let definition = self.step(at);
        let in_flight = self.running.values().any(|running| *running == at);
        let over = self.frames[at.frame].state != FrameState::Open;
        let state = match progress.phase {
            Phase::Settled => StepState::Ended,
            Phase::Asking => StepState::Asking,
            Phase::Waiting => StepState::Waiting,
            _ if in_flight => StepState::Running,
            _ if progress.child.is_some() && progress.started_ms.is_some() => StepState::Running,
            Phase::Staging | Phase::AfterHook => StepState::Ended,
            _ if over => StepState::NotReached,
            _ if progress.attempts.work > 0 => StepState::Interrupted,
            _ => StepState::Pending,
        };
        let (id, kind) = (definition.id.clone(), definition.work.kind());
        let gives_json = definition.parse_json != ParseJson::No;
        let view = self.visit_view(at.frame, self.path(at), id, kind, progress, state);
        StepView { gives_json, ..view }
    }

    pub(crate) fn visit_view(
        &self,
        frame: usize,
        path: StepPath,
        id: String,
        kind: StepKind,
        progress: &Progress,
        state: StepState,
    ) -> StepView {
        StepView {
            path,
            id,
            kind,
            depth: self.frames[frame].depth,
            state,
            tolerated: progress.tolerated,
            gives_json: false,
            gave_up: false,
            result: progress.result.clone(),
            started_ms: progress.started_ms,
            ended_ms: progress.ended_ms,
            ended_now: progress.ended_ms.is_some() && progress.ended_after == self.resumes,
            paused_ms: progress.paused_ms,
            declared_done: progress.declared_done,
            attempts: progress.attempts.work,
            restarts: self.frames[frame].flow.machine().map_or(0, |machine| machine.restarts),
            calls: progress.calls.clone(),
            children: progress.child.map_or_else(Vec::new, |child| self.frame_view(child)),
        }
    }
}

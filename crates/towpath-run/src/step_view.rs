//! The run as a person sees it: every step in file order, called recipes below their step.

use crate::frame::{Conversation, EndedCall, FrameState, Phase, Progress, StepAt};
use crate::outcome::StepResult;
use crate::run::Run;
use towpath_core::{JobKind, StepPath};
use towpath_recipe::StepKind;

#[derive(Debug, Clone, PartialEq)]
pub struct StepView {
    pub path: StepPath,
    pub id: String,
    pub kind: StepKind,
    /// 0 for the run's own recipe.
    pub depth: u32,
    pub state: StepState,
    pub tolerated: bool,
    pub result: Option<StepResult>,
    pub started_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// How often its work has been started in this visit.
    pub attempts: u32,
    /// Its agent calls that have ended.
    pub calls: Vec<EndedCall>,
    /// Who answers its agent calls: of the latest, ended or in flight.
    pub conversation: Conversation,
    pub children: Vec<StepView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Run {
    /// How many agent calls have begun and not ended.
    pub fn calls_in_flight(&self) -> usize {
        self.running.keys().filter(|key| key.kind == JobKind::Agent).count()
    }

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
            Phase::Limited => StepState::Waiting,
            _ if in_flight => StepState::Running,
            _ if progress.child.is_some() && progress.started_ms.is_some() => StepState::Running,
            Phase::Staging | Phase::AfterHook => StepState::Ended,
            _ if over => StepState::NotReached,
            _ if progress.attempts.work > 0 => StepState::Interrupted,
            _ => StepState::Pending,
        };
        let (id, kind) = (definition.id.clone(), definition.work.kind());
        self.visit_view(at.frame, self.path(at), id, kind, progress, state)
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
            result: progress.result.clone(),
            started_ms: progress.started_ms,
            ended_ms: progress.ended_ms,
            attempts: progress.attempts.work,
            calls: progress.calls.clone(),
            conversation: progress.conversation.clone(),
            children: progress.child.map_or_else(Vec::new, |child| self.frame_view(child)),
        }
    }
}

//! The run as it is shown: every step in file order, called recipes below their step.

use crate::frame::{FrameState, StepAt};
use crate::progress::Progress;
use crate::run::Run;
use crate::step_view::{StepState, StepView};
use towpath_core::JobKind;
use towpath_recipe::ParseJson;

impl Run {
    pub fn view(&self) -> Vec<StepView> {
        self.frame_view(0)
    }

    pub(crate) fn frame_view(&self, frame: usize) -> Vec<StepView> {
        self.flow(frame).view(self, frame)
    }

    pub(crate) fn step_view(&self, at: StepAt) -> StepView {
        let (visit, step, frame) = (self.visit(at), self.step(at), &self.frames[at.frame]);
        let (progress, elapsed) = (&visit.progress, visit.elapsed);
        let settled = progress.settled();
        let attempts = visit.attempts.next(JobKind::Bash);
        let in_flight = self.running.values().any(|running| *running == at);
        let state = match progress {
            Progress::Settled(_) => StepState::Ended,
            Progress::Asking(_) => StepState::Asking,
            Progress::Waiting(_) => StepState::Waiting,
            _ if in_flight => StepState::Running,
            _ if progress.called().is_some() && elapsed.is_some() => StepState::Running,
            Progress::Staging(_) | Progress::AfterHook(_) => StepState::Ended,
            _ if frame.state != FrameState::Open => StepState::NotReached,
            _ if attempts > 0 => StepState::Interrupted,
            _ => StepState::Pending,
        };
        StepView {
            path: self.path(at),
            id: step.id.clone(),
            kind: step.work.kind(),
            depth: frame.depth,
            state,
            tolerated: progress.tolerated(),
            gives_json: step.parse_json != ParseJson::No,
            gave_up: false,
            result: progress.result().cloned(),
            started_ms: elapsed.map(|elapsed| elapsed.started_ms),
            ended_ms: settled.map(|settled| settled.ended_ms),
            ended_now: settled.is_some_and(|settled| settled.ended_after == self.resumes),
            paused_ms: elapsed.map_or(0, |elapsed| elapsed.paused_ms),
            declared_done: progress.end().is_some_and(|end| end.declared_done),
            attempts,
            restarts: frame.flow.machine().map_or(0, |machine| machine.restarts),
            calls: visit.calls.clone(),
            children: progress.called().map_or_else(Vec::new, |called| self.frame_view(called)),
        }
    }
}

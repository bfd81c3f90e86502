//! Which step comes next. A stage is a step, or a parallel group; a stage begins when the one
//! before it has settled, and a failure that is not tolerated ends its recipe once the whole stage
//! has settled.

use crate::frame::{FrameState, Phase, Progress, StepAt};
use crate::outcome::{Failure, FailureKind, StepStatus};
use crate::run::Run;
use towpath_core::StepPath;

impl Run {
    /// Follows every consequence of what has changed. Works off a queue instead of recursing, so
    /// that no plan can exhaust the stack.
    pub(crate) fn pump(&mut self) {
        while let Some(frame) = self.dirty.pop_first() {
            match self.frames[frame].state {
                FrameState::Open if self.frames[frame].machine.is_some() => {
                    self.advance_machine(frame);
                }
                FrameState::Open => self.advance(frame),
                FrameState::Expiring => self.end_if_quiet(frame),
                FrameState::Done | FrameState::Failed => {}
            }
        }
    }

    fn advance(&mut self, frame: usize) {
        let recipe = self.recipe(frame);
        let stages = recipe.stages();
        let Some(stage) = stages.get(self.frames[frame].stage).cloned() else {
            return self.close(frame, FrameState::Done, None);
        };
        if !self.frames[frame].begun {
            self.frames[frame].begun = true;
            // Every condition of a group sees the context as it was when the group started.
            let verdicts: Vec<_> =
                stage.clone().map(|s| self.verdict(StepAt::new(frame, s))).collect();
            for (step, verdict) in stage.clone().zip(verdicts) {
                self.enter(StepAt::new(frame, step), verdict);
            }
        }
        let steps = &self.frames[frame].steps[stage.clone()];
        if steps.iter().any(|p| p.phase != Phase::Settled) {
            return;
        }
        if self.stages_group(frame, stage.clone()) {
            return;
        }
        let steps = &self.frames[frame].steps[stage.clone()];
        // A stage that was stopped is not over: its failures count when it is tried again.
        let stopped = steps.iter().position(Progress::stopped);
        if let Some(failed) = stopped.or_else(|| steps.iter().position(Progress::failed)) {
            return self.close(frame, FrameState::Failed, Some(stage.start + failed));
        }
        for step in stage {
            self.frames[frame].commit(&recipe, step);
        }
        self.frames[frame].stage += 1;
        self.frames[frame].begun = false;
        self.dirty.insert(frame);
    }

    /// Ends a frame and settles the step that opened it.
    pub(crate) fn close(&mut self, frame: usize, state: FrameState, failed: Option<usize>) {
        self.frames[frame].state = state;
        let Some(caller) = self.frames[frame].parent else { return };
        let failure = failed.and_then(|index| {
            let path = self.path(StepAt::new(frame, index));
            if let Some(refused) =
                self.frames[frame].machine.as_ref().and_then(|m| m.refused.clone())
            {
                return Some(refused.within(path));
            }
            let result = self.frames[frame].steps[index].result.as_ref()?;
            match &result.status {
                StepStatus::Failed(cause) => Some(cause.clone().within(path)),
                _ => None,
            }
        });
        self.settle_call(caller, frame, failure);
    }

    /// The time of the recipe step at `path` has run out.
    pub(crate) fn expire(&mut self, path: &StepPath) {
        let opened = |f: &crate::frame::Frame| f.path.as_ref() == Some(path);
        let Some((root, _)) = self.live_frames().into_iter().find(|(_, f)| opened(f)) else {
            return;
        };
        if self.frames[root].state != FrameState::Open {
            return;
        }
        let below: Vec<usize> =
            (0..self.frames.len()).filter(|f| self.is_within(*f, root)).collect();
        for frame in &below {
            if self.frames[*frame].state == FrameState::Open {
                self.frames[*frame].state = FrameState::Expiring;
            }
        }
        self.ready.retain(|(_, at)| !below.contains(&at.frame));
        self.dirty.insert(root);
    }

    pub(crate) fn is_within(&self, frame: usize, root: usize) -> bool {
        self.stack(frame).contains(&root)
    }

    /// An expiring frame ends when nothing in it is in flight. The outermost one tells its step.
    fn end_if_quiet(&mut self, frame: usize) {
        let mut root = frame;
        while let Some(caller) = self.frames[root].parent
            && self.frames[caller.frame].state == FrameState::Expiring
        {
            root = caller.frame;
        }
        let busy: Vec<usize> = self.running.values().map(|at| at.frame).collect();
        if busy.into_iter().any(|f| self.is_within(f, root)) {
            return;
        }
        for frame in 0..self.frames.len() {
            if self.is_within(frame, root) && self.frames[frame].state == FrameState::Expiring {
                self.frames[frame].state = FrameState::Failed;
            }
        }
        let Some(caller) = self.frames[root].parent else { return };
        let seconds = self.step(caller).timeout.unwrap_or_default();
        let failure = Failure::new(FailureKind::Timeout, timed_out(seconds));
        self.settle_call(caller, root, Some(failure));
    }
}

pub(crate) fn timed_out(after: std::time::Duration) -> String {
    let seconds = after.as_secs_f64();
    format!("timed out after {seconds} s")
}

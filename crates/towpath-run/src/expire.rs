//! The time of a recipe step runs out: nothing more starts below it, and the step fails once what is
//! in flight there has ended.

use crate::failure::{Failure, FailureKind};
use crate::frame::FrameState;
use crate::job_end::timed_out;
use crate::run::Run;
use towpath_core::StepPath;

impl Run {
    /// The time of the recipe step at `path` has run out.
    pub(crate) fn expire(&mut self, path: &StepPath) {
        let mut live = self.live_frames().into_iter();
        let opened = live.find(|(_, frame)| frame.path.as_ref() == Some(path));
        let Some((root, FrameState::Open)) = opened.map(|(root, frame)| (root, frame.state)) else {
            return;
        };
        let below = self.frames_within(root);
        for frame in &below {
            if self.frames[*frame].state == FrameState::Open {
                self.frames[*frame].state = FrameState::Expiring;
            }
        }
        self.ready.retain(|(_, at)| !below.contains(&at.frame));
        self.dirty.insert(root);
    }

    /// A frame and all that were opened below it.
    pub(crate) fn frames_within(&self, root: usize) -> Vec<usize> {
        (0..self.frames.len()).filter(|frame| self.stack(*frame).contains(&root)).collect()
    }

    /// An expiring frame ends when nothing in it is in flight. The outermost one fails its step.
    pub(crate) fn end_if_quiet(&mut self, frame: usize) {
        let is_expiring = |frame: &usize| self.frames[*frame].state == FrameState::Expiring;
        let root = self.stack(frame).into_iter().take_while(is_expiring).last().unwrap_or(frame);
        let below = self.frames_within(root);
        if self.running.values().any(|at| below.contains(&at.frame)) {
            return;
        }
        for frame in below {
            if self.frames[frame].state == FrameState::Expiring {
                self.frames[frame].state = FrameState::Failed;
            }
        }
        let Some(caller) = self.frames[root].parent else { return };
        let seconds = self.step(caller).timeout.unwrap_or_default();
        let failure = Failure::new(FailureKind::Timeout, timed_out(seconds));
        self.call_finished(caller, root, Some(failure));
    }
}

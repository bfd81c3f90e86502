//! Finding steps and frames: by their path as the user writes it, and by their indices.

use crate::condition_value::ConditionValue;
use crate::frame::{Frame, StepAt};
use crate::progress::StepVisit;
use crate::run::{Mismatch, Run};
use std::sync::Arc;
use towpath_core::StepPath;
use towpath_recipe::{Recipe, Step};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchStep {
    #[error("no step `{0}` in this run")]
    Unknown(String),
    #[error("`{name}` could be any of {}", .candidates.join(", "))]
    Ambiguous { name: String, candidates: Vec<String> },
}

impl Run {
    /// Finds a step by its path, or by the end of its path where that is unique.
    pub fn find_step(&self, name: &str) -> Result<StepPath, NoSuchStep> {
        let mut found = Vec::new();
        let ending = format!("/{name}");
        for at in self.live_steps() {
            let path = self.path(at);
            let texts = [path.as_str(), &path.without_visits()];
            if texts.contains(&name) {
                return Ok(path);
            }
            if texts.iter().any(|text| text.ends_with(&ending)) {
                found.push(path);
            }
        }
        match found.len() {
            0 => Err(NoSuchStep::Unknown(name.to_owned())),
            1 => Ok(found.remove(0)),
            _ => {
                let candidates = found.iter().map(ToString::to_string).collect();
                Err(NoSuchStep::Ambiguous { name: name.to_owned(), candidates })
            }
        }
    }

    /// What a step may report; nothing outside a state machine.
    pub fn outcomes_of(&self, path: &StepPath) -> Vec<String> {
        let Ok(at) = self.locate(path) else { return Vec::new() };
        self.step(at).outcomes.iter().map(|outcome| outcome.name.clone()).collect()
    }

    /// What the condition of a step read when it was looked at.
    pub fn condition_values(&self, path: &StepPath) -> &[ConditionValue] {
        self.locate(path).map_or(&[], |at| &self.visit(at).condition_values)
    }

    /// A step as it is written, and the index of its recipe in the plan.
    pub fn definition(&self, path: &StepPath) -> Option<(usize, &Step)> {
        let at = self.locate(path).ok()?;
        Some((self.frames[at.frame].recipe, self.step(at)))
    }

    pub(crate) fn locate(&self, path: &StepPath) -> Result<StepAt, Mismatch> {
        let found = self.live_steps().find(|at| self.path(*at) == *path);
        found.ok_or_else(|| Mismatch(format!("no step {path}")))
    }

    /// The steps of the frames that the current visits lead to.
    pub(crate) fn live_steps(&self) -> impl Iterator<Item = StepAt> {
        let frames = self.live_frames().into_iter();
        frames.flat_map(|(frame, live)| (0..live.steps.len()).map(move |at| StepAt::new(frame, at)))
    }

    /// The frames that the current visits lead to, parents before children.
    pub(crate) fn live_frames(&self) -> Vec<(usize, &Frame)> {
        let mut live = vec![(0, &self.frames[0])];
        let mut at = 0;
        while at < live.len() {
            let (_, frame) = live[at];
            let called = frame.steps.iter().filter_map(|visit| visit.progress.called());
            live.extend(called.map(|called| (called, &self.frames[called])));
            at += 1;
        }
        live
    }

    pub(crate) fn recipe(&self, frame: usize) -> Arc<Recipe> {
        Arc::clone(&self.program.recipes[self.frames[frame].recipe])
    }

    pub(crate) fn recipe_of(&self, frame: usize) -> &Recipe {
        &self.program.recipes[self.frames[frame].recipe]
    }

    pub(crate) fn step(&self, at: StepAt) -> &Step {
        &self.recipe_of(at.frame).steps[at.step]
    }

    pub(crate) fn visit(&self, at: StepAt) -> &StepVisit {
        &self.frames[at.frame].steps[at.step]
    }

    pub(crate) fn visit_mut(&mut self, at: StepAt) -> &mut StepVisit {
        &mut self.frames[at.frame].steps[at.step]
    }

    /// The recipe steps that a frame runs below, innermost first.
    pub(crate) fn callers(&self, frame: usize) -> Vec<StepAt> {
        let caller = |at: &StepAt| self.frames[at.frame].parent;
        std::iter::successors(self.frames[frame].parent, caller).collect()
    }

    /// A frame and those around it, innermost first.
    pub(crate) fn stack(&self, frame: usize) -> Vec<usize> {
        let callers = self.callers(frame).into_iter().map(|caller| caller.frame);
        std::iter::once(frame).chain(callers).collect()
    }

    /// The path of a step's current visit.
    pub(crate) fn path(&self, at: StepAt) -> StepPath {
        let visit = self.visit(at).number;
        let id = &self.step(at).id;
        StepPath::in_frame(self.frames[at.frame].path.as_ref(), id, visit)
    }
}

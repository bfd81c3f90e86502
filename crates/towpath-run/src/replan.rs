//! Continuing with an edited recipe. New text is taken for steps that have not finished; if a
//! finished one changed, or the order before the current step did, the whole edit is refused.

use crate::frame::StepAt;
use crate::progress::{Progress, StepVisit};
use crate::run::Run;
use std::sync::Arc;
use towpath_recipe::{Program, Recipe, Work};

/// Why an edited recipe cannot be used: a reason for each recipe or step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct EditRefused(pub Vec<String>);

/// What another version of the plan means for a run.
#[derive(Default)]
struct Edit {
    /// The new recipe of each frame that stays.
    recipes: Vec<(usize, usize)>,
    /// Steps whose call is gone from the plan, and had finished nothing.
    dropped: Vec<StepAt>,
    refused: Vec<String>,
}

impl Run {
    /// Takes another version of the plan, between two owners: `Resumed` follows, and begins with
    /// the new text what was in flight or has failed.
    pub fn replan(&mut self, program: Arc<Program>) -> Result<(), EditRefused> {
        let edit = self.compare(&program);
        if !edit.refused.is_empty() {
            return Err(EditRefused(edit.refused));
        }
        self.ready.clear();
        for at in edit.dropped {
            self.uncount(at);
            let visit = self.visit_mut(at);
            (visit.counted, visit.elapsed, visit.progress) = (false, None, Progress::Pending);
        }
        let old = std::mem::replace(&mut self.program, program);
        for (frame, recipe) in &edit.recipes {
            self.take_steps(*frame, &old, *recipe);
        }
        self.running = std::mem::take(&mut self.running)
            .into_iter()
            .filter(|(_, at)| edit.recipes.iter().any(|(frame, _)| *frame == at.frame))
            .filter_map(|(key, at)| {
                let step = self.recipe(at.frame).step_index(&key.step)?;
                let at = StepAt { step, ..at };
                // What now comes later is not interrupted: its turn comes.
                let pending = matches!(self.visit(at).progress, Progress::Pending);
                (!pending).then_some((key, at))
            })
            .collect();
        Ok(())
    }

    /// Compares what the run has done with another version of its plan.
    fn compare(&self, program: &Program) -> Edit {
        let mut edit = Edit { recipes: vec![(0, 0)], ..Edit::default() };
        let mut next = 0;
        while let Some(found) = edit.recipes.get(next).copied() {
            let (frame, recipe) = self.restarted(found, program);
            edit.recipes[next].1 = recipe;
            next += 1;
            edit.refused.extend(self.conflicts(frame, &program.recipes[recipe]));
            for (step, visit) in self.frames[frame].steps.iter().enumerate() {
                let at = StepAt::new(frame, step);
                let Some(child) = visit.progress.called() else { continue };
                match callee(program, recipe, self.step(at)) {
                    Some(callee) => edit.recipes.push((child, callee)),
                    None if self.frames[child].has_executed() => {
                        let path = self.path(at);
                        edit.refused.push(format!("{path} no longer calls its recipe"));
                    }
                    None => edit.dropped.push(at),
                }
            }
        }
        edit
    }

    /// Why an edited recipe cannot replace a frame's own. The progress of a step recipe means nothing
    /// to a state machine, nor the other way round.
    fn conflicts(&self, frame: usize, new: &Recipe) -> Vec<String> {
        let old = self.recipe(frame);
        let kind = |recipe: &Recipe| match recipe.machine() {
            Some(_) => "a state machine",
            None => "a step recipe",
        };
        let (was, is) = (kind(&old), kind(new));
        if was != is {
            return vec![format!("recipe {} was {was} and is {is} now", old.name)];
        }
        let conflicts = self.flow(frame).edit_conflicts(self, frame, new);
        conflicts.into_iter().map(|(step, why)| format!("{step} {why}")).collect()
    }

    /// A state machine that restarted with another recipe continues with that one.
    fn restarted(&self, (frame, recipe): (usize, usize), program: &Program) -> (usize, usize) {
        let name = &self.recipe(frame).name;
        let restarted = self.frames[frame].flow.machine().is_some_and(|m| m.restarts > 0);
        let found = program.recipes.iter().position(|r| restarted && r.name == *name);
        (frame, found.unwrap_or(recipe))
    }

    /// Carries the progress of each step over to the new recipe, by its id.
    fn take_steps(&mut self, frame: usize, old: &Program, recipe: usize) {
        let old = Arc::clone(&old.recipes[self.frames[frame].recipe]);
        let new = Arc::clone(&self.program.recipes[recipe]);
        let mut steps: Vec<StepVisit> = Vec::new();
        for step in &new.steps {
            let known = old.step_index(&step.id);
            let mut visit =
                known.map_or_else(StepVisit::default, |i| self.frames[frame].steps[i].clone());
            if known.is_some_and(|i| !is_same_document(&old.steps[i].work, &step.work)) {
                visit.documents.clear();
            }
            steps.push(visit);
        }
        self.frames[frame].steps = steps;
        self.frames[frame].recipe = recipe;
        self.flow(frame).take_edit(self, frame, &old, &new);
        for step in 0..new.steps.len() {
            if let Some(child) = self.frames[frame].steps[step].progress.called() {
                self.frames[child].parent = Some(StepAt::new(frame, step));
            }
        }
        self.flow(frame).rebuild_context(self, frame);
    }
}

/// Whether a step's prompt is made of the same text as before.
fn is_same_document(old: &Work, new: &Work) -> bool {
    let document = |work: &Work| match work {
        Work::Agent(agent) => agent.document.clone(),
        _ => None,
    };
    match (document(old), document(new)) {
        (Some(old), Some(new)) => old.set.is_same_text(&new.set),
        (None, None) => true,
        _ => false,
    }
}

fn callee(program: &Program, caller: usize, step: &towpath_recipe::Step) -> Option<usize> {
    match &step.work {
        Work::Recipe { name, .. } => program.callee(caller, name),
        _ => None,
    }
}

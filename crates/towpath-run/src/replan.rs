//! Going on with an edited recipe. New text is taken for steps that have not finished; if a
//! finished one changed, or the order before the current place did, the edit is refused whole.

use crate::frame::{Phase, Progress, StepAt};
use crate::run::Run;
use std::sync::Arc;
use towpath_core::StepPath;
use towpath_recipe::{Program, Recipe, Work};

/// Why an edited recipe cannot be taken, step by step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(|(step, why)| format!("{step} {why}")).collect::<Vec<_>>().join("; "))]
pub struct EditRefused(pub Vec<(StepPath, &'static str)>);

impl Run {
    /// Takes another version of the plan, between two owners: `Resumed` follows, and begins with
    /// the new text what was in flight or has failed.
    pub fn replan(&mut self, program: Arc<Program>) -> Result<(), EditRefused> {
        let mut refused = Vec::new();
        let mut indices = vec![(0, 0)];
        let mut at = 0;
        while at < indices.len() {
            let (frame, recipe) = self.restarted(indices[at], &program);
            indices[at].1 = recipe;
            self.compare(frame, &program.recipes[recipe], &mut refused);
            for (step, progress) in self.frames[frame].steps.iter().enumerate() {
                let at = StepAt::new(frame, step);
                let Some(child) = progress.child else { continue };
                let began = self.frames[child].steps.iter().any(Progress::executed);
                match callee(&program, recipe, self.step(at)) {
                    Some(callee) => indices.push((child, callee)),
                    None if began => {
                        refused.push((self.path(at), "no longer calls its recipe"));
                    }
                    None => {}
                }
            }
            at += 1;
        }
        if !refused.is_empty() {
            return Err(EditRefused(refused));
        }
        self.ready.clear();
        let old = std::mem::replace(&mut self.program, program);
        for (frame, recipe) in &indices {
            self.take_steps(*frame, &old, *recipe);
        }
        self.running = std::mem::take(&mut self.running)
            .into_iter()
            .filter_map(|(key, at)| {
                let step = self.recipe(at.frame).step_index(&key.step)?;
                let at = StepAt { step, ..at };
                // What now stands later is not cut off: its turn comes.
                (self.progress(at).phase != Phase::Pending).then_some((key, at))
            })
            .collect();
        Ok(())
    }

    /// A machine that restarted with another recipe goes on with that one.
    fn restarted(&self, (frame, recipe): (usize, usize), program: &Program) -> (usize, usize) {
        let name = &self.recipe(frame).name;
        let restarted = self.frames[frame].machine.as_ref().is_some_and(|m| m.restarts > 0);
        let found = program.recipes.iter().position(|r| restarted && r.name == *name);
        (frame, found.unwrap_or(recipe))
    }

    fn compare(&self, frame: usize, new: &Recipe, refused: &mut Vec<(StepPath, &'static str)>) {
        let old = self.recipe(frame);
        if let Some(machine) = &self.frames[frame].machine {
            // What a machine does next may be edited freely, as long as it still stands somewhere.
            let Some(at) = machine.at else { return };
            if new.machine().is_none() || new.step_index(&old.steps[at].id).is_none() {
                let path = self.path(StepAt::new(frame, at));
                refused.push((path, "is where the machine stands, and is gone from the recipe"));
            }
            return;
        }
        let state = &self.frames[frame];
        let passed = old.stages().get(state.stage).map_or(old.steps.len(), |s| s.start);
        for (index, step) in old.steps.iter().enumerate() {
            let progress = &state.steps[index];
            let fixed = index < passed || (progress.phase == Phase::Settled && !progress.failed());
            let called =
                progress.child.is_some_and(|c| self.frames[c].steps.iter().any(Progress::executed));
            if !fixed && !called {
                continue;
            }
            let path = self.path(StepAt::new(frame, index));
            match new.step_index(&step.id) {
                None => refused.push((path, "has run and is gone from the recipe")),
                Some(at) if new.step_text(&new.steps[at]) != old.step_text(step) => {
                    refused.push((path, "has run and was changed"));
                }
                Some(at) if index < passed && at != index => {
                    refused.push((path, "has run and stands at another place"));
                }
                Some(_) => {}
            }
        }
        for step in new.steps.iter().take(passed) {
            if old.step_index(&step.id).is_none() {
                let path = StepPath::in_frame(state.path.as_ref(), &step.id, 1);
                refused.push((path, "is new and stands before steps that have run"));
            }
        }
    }

    /// Carries the progress of each step over to the new recipe, by its id.
    fn take_steps(&mut self, frame: usize, old: &Program, recipe: usize) {
        let old = Arc::clone(&old.recipes[self.frames[frame].recipe]);
        let new = Arc::clone(&self.program.recipes[recipe]);
        let mut steps: Vec<Progress> = Vec::new();
        for step in &new.steps {
            let known = old.step_index(&step.id);
            steps.push(
                known.map_or_else(Progress::default, |i| self.frames[frame].steps[i].clone()),
            );
        }
        if let Some(machine) = &mut self.frames[frame].machine {
            let moved = |index: usize| new.step_index(&old.steps[index].id);
            machine.at = machine.at.and_then(moved);
            let visits = |id: &str| old.step_index(id).map_or(0, |index| machine.visits[index]);
            machine.visits = new.steps.iter().map(|step| visits(&step.id)).collect();
            self.frames[frame].steps = steps;
            self.frames[frame].recipe = recipe;
            for step in 0..new.steps.len() {
                if let Some(child) = self.frames[frame].steps[step].child {
                    self.frames[child].parent = Some(StepAt::new(frame, step));
                }
            }
            return self.frames[frame].rebuild(&new);
        }
        let turn = new.stages().get(self.frames[frame].stage).map_or(new.steps.len(), |s| s.end);
        for later in steps.iter_mut().skip(turn) {
            *later = Progress { visit: later.visit, ..Progress::default() };
        }
        self.frames[frame].steps = steps;
        self.frames[frame].recipe = recipe;
        for step in 0..new.steps.len() {
            if let Some(child) = self.frames[frame].steps[step].child {
                self.frames[child].parent = Some(StepAt::new(frame, step));
            }
        }
        self.frames[frame].rebuild(&new);
    }
}

fn callee(program: &Program, caller: usize, step: &towpath_recipe::Step) -> Option<usize> {
    match &step.work {
        Work::Recipe { name, .. } => program.callee(caller, name),
        _ => None,
    }
}

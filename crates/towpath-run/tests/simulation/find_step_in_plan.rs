//! Where a step of a schedule's plan is written.

use crate::simulated_world::World;
use std::sync::Arc;
use towpath_core::StepPath;
use towpath_recipe::{Recipe, Step, Work};

impl World {
    /// The recipe of a frame's steps; of a machine that may have begun again, the one it began with.
    pub fn recipe_of(&self, frame: Option<&StepPath>) -> Arc<Recipe> {
        let mut at = 0;
        let path = frame.map(StepPath::without_visits).unwrap_or_default();
        for id in path.split('/').filter(|id| !id.is_empty()) {
            let step = self.step_in(at, id);
            let Work::Recipe { name, .. } = &step.work else { panic!("{path} calls no recipe") };
            at = self.program.callee(at, name).expect("what is called is in the plan");
        }
        Arc::clone(&self.program.recipes[at])
    }

    /// A step of a recipe or, if that is a machine, of its twin.
    pub fn step_in(&self, recipe: usize, id: &str) -> Step {
        let find = |recipe: &Recipe| recipe.step_index(id).map(|step| recipe.steps[step].clone());
        let own = find(&self.program.recipes[recipe]);
        let twin = || {
            let twin = self.program.recipes[recipe].name.replace("level", "twin");
            find(&self.program.recipes[self.program.callee(recipe, &twin)?])
        };
        own.or_else(twin).expect("a job's step is in its recipe")
    }

    pub fn step_at(&self, path: &StepPath) -> Step {
        let recipe = self.recipe_of(path.frame().as_ref());
        let index = self.program.recipes.iter().position(|r| r.name == recipe.name);
        let id = path.without_visits();
        let id = id.rsplit('/').next().expect("a path has a last part");
        self.step_in(index.expect("the recipe is in the plan"), id)
    }

    pub fn is_machine(&self, frame: Option<&StepPath>) -> bool {
        self.recipe_of(frame).machine().is_some()
    }
}

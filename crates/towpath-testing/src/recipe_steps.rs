//! The steps that a recipe and all it calls have, by the paths that a run would give them. A
//! recipe may call itself, so paths are followed as they are asked for, never all listed.

use crate::run_record::StepRecord;
use towpath_core::nearest;
use towpath_recipe::{Program, Recipe, Transition, Work};

/// How deep calls are followed where all steps below one are wanted.
const DEPTH: usize = 6;

#[derive(Debug, Clone, Copy)]
pub struct RecipeSteps<'p>(pub &'p Program);

impl<'p> RecipeSteps<'p> {
    /// The recipe whose steps are below a path; the run's own for an empty one.
    fn recipe_at(self, path: &str) -> Option<(usize, &'p Recipe)> {
        let mut index = 0;
        for id in path.split('/').filter(|id| !id.is_empty()) {
            let recipe = self.0.recipes.get(index)?;
            let step = &recipe.steps[recipe.step_index(id)?];
            let Work::Recipe { name, .. } = &step.work else { return None };
            index = self.0.callee(index, name)?;
        }
        Some((index, self.0.recipes.get(index)?))
    }

    pub fn has_path(self, path: &str) -> bool {
        let (call, id) = path.rsplit_once('/').unwrap_or(("", path));
        self.recipe_at(call).is_some_and(|(index, _)| {
            let mut recipes = self.begun_by(index).into_iter();
            recipes.any(|index| self.0.recipes[index].step_index(id).is_some())
        })
    }

    /// A recipe and, of a state machine, all that may replace it by a restart.
    fn begun_by(self, recipe: usize) -> Vec<usize> {
        let mut found = vec![recipe];
        let mut next = 0;
        while let Some(index) = found.get(next).copied() {
            let outcomes = self.0.recipes[index].steps.iter().flat_map(|step| &step.outcomes);
            for outcome in outcomes {
                let Transition::Restart { recipe, .. } = &outcome.then else { continue };
                let target = self.0.callee(index, recipe);
                found.extend(target.filter(|target| !found.contains(target)));
            }
            next += 1;
        }
        found
    }

    pub fn has_id(self, id: &str) -> bool {
        self.0.recipes.iter().any(|recipe| recipe.step_index(id).is_some())
    }

    /// The paths of the steps that a call has directly below it.
    pub fn directly_below(self, call: &str) -> Vec<String> {
        let recipe = self.recipe_at(call).map(|(_, recipe)| recipe);
        let ids = recipe.into_iter().flat_map(|recipe| &recipe.steps).map(|step| &step.id);
        ids.map(|id| joined(call, id)).collect()
    }

    /// The steps of a state machine that a run never entered: a record has only those that it did.
    pub fn not_entered(self, call: &str, entered: &[StepRecord]) -> Vec<StepRecord> {
        let machine = self.recipe_at(call).is_some_and(|(_, recipe)| recipe.machine().is_some());
        if !machine {
            return Vec::new();
        }
        let mut paths = self.directly_below(call);
        paths.retain(|path| !entered.iter().any(|step| step.path == *path));
        let unentered =
            |path| StepRecord { path, status: "not_reached".into(), ..StepRecord::default() };
        paths.into_iter().map(unentered).collect()
    }

    /// Why a name is no step, if it is none. By its id a step is known only with `by_id`.
    pub fn unknown(self, name: &str, by_id: bool) -> Option<String> {
        if self.has_path(name) || (by_id && self.has_id(name)) {
            return None;
        }
        let recipe = &self.0.root().name;
        let mut known = self.directly_below("");
        for call in known.clone() {
            known.extend(self.directly_below(&call));
        }
        let same_end = known.iter().find(|path| path.ends_with(&format!("/{name}")));
        let near = same_end.map(String::as_str);
        let near = near.or_else(|| nearest(name, known.iter().map(String::as_str)));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Some(format!("`{name}` is no step of {recipe}{hint}"))
    }

    /// The bash and agent steps that do the work of a step: itself, or all below a call.
    pub fn workers(self, path: &str) -> Workers {
        let mut workers = Workers::default();
        self.collect(path, DEPTH, &mut workers);
        workers
    }

    fn collect(self, path: &str, depth: usize, workers: &mut Workers) {
        let (call, id) = path.rsplit_once('/').unwrap_or(("", path));
        let recipe = self.recipe_at(call).map(|(_, recipe)| recipe);
        let step = recipe.and_then(|r| Some(&r.steps[r.step_index(id)?]));
        match step.map(|step| &step.work) {
            Some(Work::Bash { .. }) => workers.bash.push(path.to_owned()),
            Some(Work::Agent { .. }) => workers.agents.push(path.to_owned()),
            Some(Work::Recipe { .. }) if depth > 0 => {
                for below in self.directly_below(path) {
                    self.collect(&below, depth - 1, workers);
                }
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Workers {
    pub bash: Vec<String>,
    pub agents: Vec<String>,
}

fn joined(call: &str, id: &str) -> String {
    if call.is_empty() { id.to_owned() } else { format!("{call}/{id}") }
}

/// Whether a step is meant by a name that is its path or its id.
pub fn is_meant(name: &str, path: &str) -> bool {
    path == name || path.rsplit('/').next() == Some(name)
}

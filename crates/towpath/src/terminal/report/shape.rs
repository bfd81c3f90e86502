//! What is known of a plan before anything runs: how many steps a called recipe has, and what each step
//! would do, in its author's words.

use std::collections::BTreeMap;
use towpath_core::StepPath;
use towpath_recipe::{Analysis, Program, Work};
use towpath_view::foreign_text::{first_command_line, first_line};

#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// The root is the first.
    pub recipes: Vec<RecipeShape>,
}

#[derive(Debug, Clone, Default)]
pub struct RecipeShape {
    pub name: String,
    pub steps: usize,
    /// Its steps are visited, and each visit is reported by itself.
    pub machine: bool,
    /// The most steps that a machine's limits and transitions allow in one session.
    pub most_steps: Option<u64>,
    /// The recipe that a step calls: an index.
    pub calls: BTreeMap<String, usize>,
    pub work: BTreeMap<String, String>,
    /// The position of each step in its recipe, from 1.
    pub positions: BTreeMap<String, usize>,
}

impl Shape {
    pub fn of(program: &Program) -> Shape {
        let recipes = program.recipes.iter().enumerate().map(|(index, recipe)| {
            let mut shape = RecipeShape {
                name: recipe.name.clone(),
                steps: recipe.steps.len(),
                machine: recipe.machine().is_some(),
                ..RecipeShape::default()
            };
            for (at, step) in recipe.steps.iter().enumerate() {
                shape.positions.insert(step.id.clone(), at + 1);
                if let Work::Recipe { name, .. } = &step.work
                    && let Some(callee) = program.callee(index, name)
                {
                    shape.calls.insert(step.id.clone(), callee);
                }
                shape.work.insert(step.id.clone(), described(&step.work));
            }
            shape
        });
        Shape { recipes: recipes.collect() }
    }

    /// With the most steps that each machine can take, which takes a search to find out.
    pub fn bounded(mut self, program: &Program) -> Shape {
        for (index, recipe) in self.recipes.iter_mut().enumerate() {
            let known = Analysis::of(program, index);
            recipe.most_steps = known.map(|(known, _)| known.bounds.steps);
        }
        self
    }

    /// How many steps the recipe has that this step calls; nobody knows how many a machine visits.
    pub fn called_steps(&self, path: &StepPath) -> Option<usize> {
        let (recipe, id) = self.locate(path)?;
        let callee = self.recipes[recipe].calls.get(&id)?;
        self.recipes.get(*callee).filter(|recipe| !recipe.machine).map(|recipe| recipe.steps)
    }

    /// The most steps that the machine of this name can take in one session.
    pub fn most_steps(&self, recipe: &str) -> Option<u64> {
        self.recipes.iter().find(|known| known.name == recipe)?.most_steps
    }

    /// What distinguishes a step from the others of its recipe: a visit of a machine's, else its id.
    pub fn name_of(&self, path: &StepPath) -> String {
        let last = path.as_str().rsplit('/').next().unwrap_or_default();
        if self.is_machines(path) { last.to_owned() } else { bare(last).to_owned() }
    }

    /// Whether it is a visit of a machine's step. What begins where a state machine was is one.
    pub fn is_machines(&self, path: &StepPath) -> bool {
        let root = || self.recipes.first().is_some_and(|recipe| recipe.machine);
        self.is_visit(path).unwrap_or_else(root)
    }

    pub fn has_several_steps(&self) -> bool {
        self.recipes.iter().map(|recipe| recipe.steps).sum::<usize>() > 1
    }

    /// A step's path in which only the visits of machines differ. In a list, a step that is
    /// run again replaces what it was before.
    pub fn without_reruns(&self, path: &StepPath) -> String {
        let text = path.as_str();
        let ends = text.match_indices('/').map(|(at, _)| at).chain([text.len()]);
        ends.map(|end| self.name_of(&StepPath::new(&text[..end]))).collect::<Vec<_>>().join("/")
    }

    /// Whether it is a step of a machine; none where a restart has led elsewhere.
    pub fn is_visit(&self, path: &StepPath) -> Option<bool> {
        self.locate(path).map(|(recipe, _)| self.recipes[recipe].machine)
    }

    /// The recipe that a step belongs to, by its name.
    pub fn recipe_of(&self, path: &StepPath) -> Option<&str> {
        self.locate(path).map(|(recipe, _)| self.recipes[recipe].name.as_str())
    }

    /// `(2/6)`: the step's position in its recipe, and how many there are.
    pub fn position(&self, path: &StepPath) -> String {
        let found = self.locate(path).and_then(|(recipe, id)| {
            let recipe = &self.recipes[recipe];
            Some(format!("({}/{})", recipe.positions.get(&id)?, recipe.steps))
        });
        found.unwrap_or_default()
    }

    /// The first line of what a step does.
    pub fn work(&self, path: &StepPath) -> Option<&str> {
        let (recipe, id) = self.locate(path)?;
        self.recipes[recipe].work.get(&id).map(String::as_str)
    }

    /// The recipe that a step belongs to, and its id there.
    fn locate(&self, path: &StepPath) -> Option<(usize, String)> {
        let mut recipe = 0;
        let mut ids = path.as_str().split('/').map(bare);
        let mut id = ids.next()?;
        for next in ids {
            recipe = *self.recipes.get(recipe)?.calls.get(id)?;
            id = next;
        }
        (recipe < self.recipes.len()).then(|| (recipe, id.to_owned()))
    }
}

/// A step's id without the number of its visit.
pub fn bare(segment: &str) -> &str {
    match segment.rsplit_once('#') {
        Some((id, visit)) if !visit.is_empty() && visit.bytes().all(|b| b.is_ascii_digit()) => id,
        _ => segment,
    }
}

fn described(work: &Work) -> String {
    match work {
        Work::Bash { command } => first_command_line(command.text()),
        Work::Agent(agent) => first_line(agent.prompt.source()),
        Work::Recipe { name, .. } => format!("recipe {name}"),
    }
}

//! How often a run can restart. A restart is not checked by guardrails, so only a user's
//! `--max-restarts` bounds recipes that restart each other in a circle.

use super::step_graph::{Graph, reached};
use crate::plan::Program;
use crate::recipe::{Recipe, Transition};

/// How many restarts a run can have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Restarts {
    #[default]
    None,
    AtMost(u32),
    Unbounded,
}

/// Which recipes of a program restart which.
#[derive(Debug)]
pub(super) struct RestartGraph {
    next: Vec<Vec<usize>>,
}

impl RestartGraph {
    pub fn new(program: &Program) -> RestartGraph {
        let next = program.recipes.iter().enumerate();
        RestartGraph { next: next.map(|(at, recipe)| targets(program, at, recipe)).collect() }
    }

    /// Whether a restart from this recipe can come back to it.
    pub fn returns(&self, recipe: usize, target: usize) -> bool {
        reached(&[target], &self.next)[recipe]
    }

    pub fn restarts(&self, recipe: usize, most: Option<u32>) -> Restarts {
        let own = self.longest(recipe);
        match (own, most) {
            (Some(0), _) | (_, Some(0)) => Restarts::None,
            (None, None) => Restarts::Unbounded,
            (Some(own), most) => Restarts::AtMost(most.unwrap_or(own).min(own)),
            (None, Some(most)) => Restarts::AtMost(most),
        }
    }

    /// The longest chain of restarts, none when it can be endless.
    fn longest(&self, recipe: usize) -> Option<u32> {
        let mut frontier = vec![recipe];
        let mut length = 0;
        loop {
            let mut next: Vec<usize> =
                frontier.iter().flat_map(|at| self.next[*at].iter().copied()).collect();
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                return Some(length);
            }
            length += 1;
            if length as usize > self.next.len() {
                return None;
            }
            frontier = next;
        }
    }
}

fn targets(program: &Program, index: usize, recipe: &Recipe) -> Vec<usize> {
    let Some(machine) = recipe.machine() else { return Vec::new() };
    let graph = Graph::new(recipe, machine.initial);
    let mut targets: Vec<usize> = Vec::new();
    for (_, step) in recipe.steps.iter().enumerate().filter(|(at, _)| graph.reachable[*at]) {
        for outcome in &step.outcomes {
            if let Transition::Restart { recipe: name, .. } = &outcome.then {
                targets.extend(target(program, index, name));
            }
        }
    }
    targets
}

/// The recipe that a restart from `index` begins.
pub(super) fn target(program: &Program, index: usize, name: &str) -> Option<usize> {
    let own = || (program.recipes[index].name == name).then_some(index);
    program.callee(index, name).or_else(own)
}

//! Where a machine can go, as far as its transitions show: cheap to compute, also for a large
//! one before every run. How long it can run is for the analysis.

use super::step_graph::Graph;
use crate::recipe::{Guardrails, Recipe, Transition};

#[derive(Debug, Clone)]
pub struct ReachableSteps {
    /// Which steps can be entered at all.
    pub reachable: Vec<bool>,
    /// Which steps can be followed, at last, by themselves.
    pub in_loop: Vec<bool>,
    /// Whether a step that can be entered restarts a machine.
    pub restarts: bool,
    /// Whether a step that can be entered has an exit that is no success.
    pub fails: bool,
}

impl ReachableSteps {
    pub fn of(recipe: &Recipe, initial: usize) -> ReachableSteps {
        let graph = Graph::new(recipe, initial);
        let is_restart = |t: &Transition| matches!(t, Transition::Restart { .. });
        let is_failing =
            |t: &Transition| matches!(t, Transition::Exit { ending, .. } if ending.failed());
        let entered = recipe.steps.iter().zip(&graph.reachable).filter(|(_, can)| **can);
        let mut taken = entered.flat_map(|(step, _)| &step.outcomes).map(|outcome| &outcome.then);
        ReachableSteps {
            in_loop: (0..recipe.steps.len()).map(|step| graph.component(step).cyclic).collect(),
            restarts: taken.clone().any(is_restart),
            fails: taken.any(is_failing),
            reachable: graph.reachable,
        }
    }

    /// Whether every way through the machine comes to an exit before a limit does. No may also mean
    /// that it was not looked at closely.
    pub fn surely_end(&self, limits: Guardrails) -> bool {
        let entered = self.reachable.iter().filter(|can| **can).count() as u64;
        let looped = self.reachable.iter().zip(&self.in_loop).any(|(can, looped)| *can && *looped);
        !self.restarts && !looped && entered <= u64::from(limits.max_total_steps)
    }
}

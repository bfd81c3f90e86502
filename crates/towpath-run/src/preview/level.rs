//! Whether a previewed step is within the limits of `recursion`, as the run would count it.

use super::Walk;
use crate::limit_source::{LimitSource, over};
use towpath_recipe::Recursion;

pub(super) const MAY_BE_OVER: &str = "may go over the limit max_total_steps";

#[derive(Clone, Copy, Default)]
pub(super) struct Level {
    pub recipe: usize,
    /// Steps in it, and below it, that run if all succeeds.
    pub executed: u32,
    /// Those of them that run whatever fails and is tolerated.
    pub least: u32,
    /// Of both numbers, those that guardrails bound, and not the default for recipes.
    pub in_machines: u32,
    pub least_in_machines: u32,
}

/// Why a step is over a limit, and whether it is in any case.
pub(super) struct OverLimit {
    pub reason: String,
    pub sure: bool,
}

impl Walk<'_> {
    /// Counts a step whose turn comes, if no limit forbids it.
    pub(super) fn count(&mut self) -> Result<(), OverLimit> {
        let of = |level: &Level| {
            let recipe = &self.program.recipes[level.recipe];
            recipe.recursion.max_total_steps.map(|limit| (limit, level.executed, level.least))
        };
        let mut limits: Vec<(u32, u32, u32)> = self.levels.iter().rev().filter_map(of).collect();
        let mut source = LimitSource::Recipe;
        let in_machine =
            self.levels.iter().any(|level| self.program.recipes[level.recipe].machine().is_some());
        if limits.is_empty() && !in_machine {
            let Level { executed, least, in_machines, least_in_machines, .. } = self.levels[0];
            let (executed, least) = (executed - in_machines, least - least_in_machines);
            limits.push((Recursion::DEFAULT_MAX_TOTAL_STEPS, executed, least));
            source = LimitSource::Default;
        }
        if let Some((limit, _, _)) = limits.iter().find(|(limit, _, least)| least >= limit) {
            self.over = true;
            let reason = over("max_total_steps", *limit, source).message;
            return Err(OverLimit { reason, sure: true });
        }
        if limits.iter().any(|(limit, executed, _)| executed >= limit) {
            self.over = true;
            return Err(OverLimit { reason: MAY_BE_OVER.to_owned(), sure: false });
        }
        for (at, level) in self.levels.iter_mut().enumerate() {
            let firm = u32::from(at >= self.firm);
            level.executed += 1;
            level.least += firm;
            if in_machine {
                level.in_machines += 1;
                level.least_in_machines += firm;
            }
        }
        Ok(())
    }
}

//! Whether a previewed step is within the limits of `recursion`, as the run would count it.

use super::Walk;
use crate::failure::Failure;
use crate::step_count::{StepCount, check_total};
use towpath_recipe::Recipe;

pub(super) const MAY_BE_OVER: &str = "may go over the limit max_total_steps";

#[derive(Clone, Copy, Default)]
pub(super) struct Level {
    pub recipe: usize,
    /// Steps in it, and below it, that run if all succeeds.
    pub most: StepCount,
    /// Those of them that run whatever fails and is tolerated.
    pub least: StepCount,
}

/// A step goes over a limit.
pub(super) enum OverLimit {
    Surely(Failure),
    Perhaps,
}

impl Walk<'_> {
    /// The open recipes, innermost first.
    pub(super) fn open(&self) -> impl ExactSizeIterator<Item = &Recipe> + Clone {
        self.levels.iter().rev().map(|level| &*self.program.recipes[level.recipe])
    }

    /// Counts a step whose turn comes, if no limit forbids it.
    pub(super) fn count(&mut self) -> Result<(), OverLimit> {
        let levels = self.levels.iter().rev();
        let least = check_total(self.open().zip(levels.clone().map(|level| level.least)));
        let most = check_total(self.open().zip(levels.map(|level| level.most)));
        self.over |= least.is_err() || most.is_err();
        least.map_err(OverLimit::Surely)?;
        most.map_err(|_| OverLimit::Perhaps)?;
        let one = StepCount::one(self.open().any(|recipe| recipe.machine().is_some()));
        for (at, level) in self.levels.iter_mut().enumerate() {
            level.most.add(one);
            if at >= self.firm {
                level.least.add(one);
            }
        }
        Ok(())
    }
}

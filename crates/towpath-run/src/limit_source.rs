//! The limits of `recursion`: how many steps a recipe may run, those of called recipes included, and
//! how deep recipes may call each other. Guardrails of state machines are theirs alone.

use crate::failure::{Failure, FailureKind};
use crate::frame::StepAt;
use crate::run::Run;
use towpath_recipe::{Recipe, Recursion};

impl Run {
    /// Counts an executed step in every frame around it, if no limit forbids it.
    pub(crate) fn count(&mut self, at: StepAt) -> Result<(), Failure> {
        if self.visit(at).counted {
            return Ok(());
        }
        let stack = self.stack(at.frame);
        let in_machine = self.is_in_machine(&stack);
        let mut stated = in_machine;
        for frame in &stack {
            let Some(limit) = self.recipe(*frame).recursion.max_total_steps else { continue };
            stated = true;
            if self.frames[*frame].executed >= limit {
                return Err(over("max_total_steps", limit, LimitSource::Recipe));
            }
        }
        let default = Recursion::DEFAULT_MAX_TOTAL_STEPS;
        let root = &self.frames[0];
        if !stated && root.executed.saturating_sub(root.in_machines) >= default {
            return Err(over("max_total_steps", default, LimitSource::Default));
        }
        for frame in stack {
            self.frames[frame].executed += 1;
            self.frames[frame].in_machines += u32::from(in_machine);
        }
        self.visit_mut(at).counted = true;
        Ok(())
    }

    /// Takes a step, and what ran below it, out of the counts of the frames around it.
    pub(crate) fn uncount(&mut self, at: StepAt) {
        let visit = self.visit(at);
        let own = u32::from(visit.counted);
        let below = visit.progress.called().map(|called| &self.frames[called]);
        let (executed, in_machines) = below.map_or((0, 0), |f| (f.executed, f.in_machines));
        let stack = self.stack(at.frame);
        let own_in_machine = if self.is_in_machine(&stack) { own } else { 0 };
        for frame in stack {
            let frame = &mut self.frames[frame];
            frame.executed = frame.executed.saturating_sub(executed + own);
            frame.in_machines = frame.in_machines.saturating_sub(in_machines + own_in_machine);
        }
    }

    /// Whether any of these frames is a state machine, whose guardrails bound its steps.
    fn is_in_machine(&self, stack: &[usize]) -> bool {
        stack.iter().any(|frame| self.frames[*frame].flow.machine().is_some())
    }
}

/// Whether recipes may call each other so deep: one more than these, which are open, innermost first.
pub(crate) fn check_depth<'a>(
    mut open: impl ExactSizeIterator<Item = &'a Recipe> + Clone,
) -> Result<(), Failure> {
    let mut stated = false;
    for (recipe, depth) in open.clone().zip(1..) {
        let Some(limit) = recipe.recursion.max_depth else { continue };
        stated = true;
        if depth > limit {
            return Err(over("max_depth", limit, LimitSource::Recipe));
        }
    }
    let default = Recursion::DEFAULT_MAX_DEPTH;
    if stated || open.len() <= default as usize {
        return Ok(());
    }
    let machines = open.all(|recipe| recipe.machine().is_some());
    let source = if machines { LimitSource::DefaultOfMachines } else { LimitSource::Default };
    Err(over("max_depth", default, source))
}

/// Where a limit comes from, and so where another one can be set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LimitSource {
    Recipe,
    Default,
    /// The default where no recipe around could state another one.
    DefaultOfMachines,
}

pub(crate) fn over(name: &str, limit: u32, source: LimitSource) -> Failure {
    let source = match source {
        LimitSource::Recipe => "as the recipe states",
        LimitSource::Default => "the default; `recursion` raises it",
        LimitSource::DefaultOfMachines => {
            "the default; machines cannot raise it, a list of steps that calls the first of them \
             can, with `recursion`"
        }
    };
    Failure::new(FailureKind::Limit, format!("over the limit {name}: {limit}, {source}"))
}

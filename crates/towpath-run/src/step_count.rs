//! The limits of `recursion`: how many steps a recipe may run, those of called recipes included, and
//! how deep recipes may call each other. Guardrails of state machines are theirs alone.

use crate::failure::{Failure, FailureKind};
use towpath_recipe::{Recipe, Recursion};

/// How many steps have run in a recipe, those of called recipes included.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StepCount {
    executed: u32,
    /// Steps inside state machines; exempt from the default `max_total_steps`.
    in_machines: u32,
}

impl StepCount {
    pub fn one(in_machine: bool) -> StepCount {
        StepCount { executed: 1, in_machines: u32::from(in_machine) }
    }

    pub fn add(&mut self, more: StepCount) {
        self.executed += more.executed;
        self.in_machines += more.in_machines;
    }

    pub fn subtract(&mut self, less: StepCount) {
        self.executed = self.executed.saturating_sub(less.executed);
        self.in_machines = self.in_machines.saturating_sub(less.in_machines);
    }
}

/// Whether one more step may run in these recipes, which are open, innermost first.
pub(crate) fn check_total<'a>(
    open: impl Iterator<Item = (&'a Recipe, StepCount)>,
) -> Result<(), Failure> {
    let (mut stated, mut outermost) = (false, StepCount::default());
    for (recipe, count) in open {
        outermost = count;
        // Guardrails bound the steps of a state machine.
        stated |= recipe.machine().is_some();
        let Some(limit) = recipe.recursion.max_total_steps else { continue };
        stated = true;
        if count.executed >= limit {
            return Err(over("max_total_steps", limit, LimitSource::Recipe));
        }
    }
    let default = Recursion::DEFAULT_MAX_TOTAL_STEPS;
    let bound = outermost.executed.saturating_sub(outermost.in_machines);
    if stated || bound < default {
        return Ok(());
    }
    Err(over("max_total_steps", default, LimitSource::Default))
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
enum LimitSource {
    Recipe,
    Default,
    /// The default where no recipe around could state another one.
    DefaultOfMachines,
}

fn over(name: &str, limit: u32, source: LimitSource) -> Failure {
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

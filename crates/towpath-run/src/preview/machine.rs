//! The preview of a state machine: its first step runs, those that an outcome can lead to may run,
//! the rest never do. Which outcomes are reported is not known, and so neither is by which exit the
//! machine ends nor what its steps have set by then. What it begins with after a restart is not
//! previewed.

use super::{Begun, End, Left, NOT_TOLERATED, PreviewFrame, PreviewStep, Reach, Tolerable, Walk};
use towpath_recipe::{Machine, ReachableSteps};

impl Walk<'_> {
    pub(super) fn machine(&mut self, mut frame: PreviewFrame<'_>, machine: &Machine) -> Left {
        let limits = machine.guardrails_with(&self.program.plan.machine);
        let ways = ReachableSteps::of(frame.recipe, machine.initial);
        let mut left = Left::nothing(End::Passes);
        if ways.in_loop[machine.initial] {
            // What is true of its first visit only would be shown as if it were true of all.
            frame.forget_outputs(&ways);
        }
        let first = self.visited(&frame, machine.initial, &mut left);
        let later = match &left.end {
            End::Fails { .. } => Reach::Not(format!("`{}` before it always fails", first.id)),
            _ => Reach::Maybe("depends on what the steps before it report".to_owned()),
        };
        frame.forget_outputs(&ways);
        for index in 0..frame.recipe.steps.len() {
            if index == machine.initial {
                left.steps.push(first.clone());
                continue;
            }
            frame.reach = match ways.reachable[index] {
                true => later.clone(),
                false => Reach::Not("no outcome leads to it".to_owned()),
            };
            let step = self.visited(&frame, index, &mut left);
            left.steps.push(step);
        }
        if !ways.surely_end(limits) {
            left.end = std::mem::replace(&mut left.end, End::Passes).then(NOT_TOLERATED);
        }
        if ways.fails {
            let fails = End::MayFail(Tolerable::Always);
            left.end = std::mem::replace(&mut left.end, End::Passes).then(fails);
        }
        left
    }

    /// A step that is entered, or may be; how it can fail is how its machine can.
    fn visited(&mut self, frame: &PreviewFrame<'_>, index: usize, left: &mut Left) -> PreviewStep {
        let begun: Begun = self.enter(frame, index);
        let (step, effect) = self.follow(frame, &begun, None);
        left.end = std::mem::replace(&mut left.end, End::Passes).then(effect.end);
        step
    }
}

impl PreviewFrame<'_> {
    /// What any step of the machine may have set by now.
    fn forget_outputs(&mut self, ways: &ReachableSteps) {
        let steps = self.recipe.steps.iter().zip(&ways.reachable);
        for (step, _) in steps.filter(|(_, reachable)| **reachable) {
            if let Some(name) = &step.output {
                self.outlook.forget(name);
            }
        }
    }
}

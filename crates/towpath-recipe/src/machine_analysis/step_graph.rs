//! A machine as a graph of its steps: who follows whom, what can be reached, and which steps can
//! lead back to themselves. Nothing recurses, so a machine of any size is safe to ask about.

use crate::recipe::{Guardrails, Recipe, Step, Transition, Work};
use std::collections::VecDeque;

/// Where a step is in the sets of steps that lead to each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub component: usize,
    /// The step's index within its component.
    pub index: usize,
}

#[derive(Debug)]
pub(super) struct Component {
    pub steps: Vec<usize>,
    /// Whether a step in it can be followed, at last, by itself.
    pub cyclic: bool,
}

#[derive(Debug)]
pub(super) struct Graph {
    pub initial: usize,
    /// The steps that can follow each step, each once.
    pub next: Vec<Vec<usize>>,
    pub reachable: Vec<bool>,
    /// Sets of steps that lead to each other; a set comes after all those it leads to.
    pub components: Vec<Component>,
    pub positions: Vec<Position>,
}

impl Graph {
    pub fn new(recipe: &Recipe, initial: usize) -> Graph {
        let next: Vec<Vec<usize>> = recipe.steps.iter().map(followers).collect();
        let reachable = reached(&[initial], &next);
        let sets = components(&next);
        let mut positions = vec![Position { component: 0, index: 0 }; next.len()];
        for (component, steps) in sets.iter().enumerate() {
            for (index, step) in steps.iter().enumerate() {
                positions[*step] = Position { component, index };
            }
        }
        let cyclic = |steps: &[usize]| steps.len() > 1 || next[steps[0]].contains(&steps[0]);
        let sets = sets.into_iter().map(|steps| Component { cyclic: cyclic(&steps), steps });
        Graph { initial, reachable, components: sets.collect(), positions, next }
    }

    /// The steps from which one of `goals` can be reached.
    pub fn leading_to(&self, goals: &[usize]) -> Vec<bool> {
        let mut before = vec![Vec::new(); self.next.len()];
        for (step, next) in self.next.iter().enumerate() {
            for follower in next {
                before[*follower].push(step);
            }
        }
        reached(goals, &before)
    }

    pub fn component(&self, step: usize) -> &Component {
        &self.components[self.positions[step].component]
    }
}

fn followers(step: &Step) -> Vec<usize> {
    let mut next = Vec::new();
    for outcome in &step.outcomes {
        if let Transition::Next(target) = outcome.then
            && !next.contains(&target)
        {
            next.push(target);
        }
    }
    next
}

pub(super) fn reached(from: &[usize], next: &[Vec<usize>]) -> Vec<bool> {
    let mut seen = vec![false; next.len()];
    let mut queue: VecDeque<usize> = from.iter().copied().collect();
    while let Some(step) = queue.pop_front() {
        if !std::mem::replace(&mut seen[step], true) {
            queue.extend(next[step].iter().copied().filter(|follower| !seen[*follower]));
        }
    }
    seen
}

/// Whether a step asks an agent itself. A recipe that it calls is counted where it is explained.
pub(super) fn asks_agent(step: &Step) -> bool {
    matches!(step.work, Work::Agent(_))
}

/// Tarjan's algorithm with a stack of its own instead of recursion.
fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let (mut index, mut low) = (vec![UNSEEN; next.len()], vec![0; next.len()]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; next.len()]);
    let (mut found, mut count) = (Vec::new(), 0);
    for root in 0..next.len() {
        let mut calls = Vec::new();
        if index[root] == UNSEEN {
            calls.push((root, 0));
        }
        while let Some((step, at)) = calls.pop() {
            if at == 0 {
                (index[step], low[step]) = (count, count);
                count += 1;
                open.push(step);
                is_open[step] = true;
            } else {
                low[step] = low[step].min(low[next[step][at - 1]]);
            }
            let rest = next[step].iter().enumerate().skip(at);
            let mut child = None;
            for (at, follower) in rest {
                if index[*follower] == UNSEEN {
                    child = Some((at, *follower));
                    break;
                }
                if is_open[*follower] {
                    low[step] = low[step].min(index[*follower]);
                }
            }
            if let Some((at, follower)) = child {
                calls.push((step, at + 1));
                calls.push((follower, 0));
            } else if low[step] == index[step] {
                let begin = open.iter().rposition(|s| *s == step).expect("it was opened above");
                let steps = open.split_off(begin);
                for s in &steps {
                    is_open[*s] = false;
                }
                found.push(steps);
            }
        }
    }
    found
}

/// Where a machine can go, as far as its transitions show: cheap to compute, also for a large one
/// before every run. How long it can run is for the analysis.
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

//! How a session can end by itself, and the shortest way there: an example that a user can follow.

use super::step_graph::Graph;
use crate::recipe::{Ending, OTHER, Recipe, Transition};
use std::collections::VecDeque;

/// How a session ends when no guardrail ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// By its reason.
    Exit(String, Ending),
    /// A new session begins with the recipe of this name.
    Restart(String),
}

/// The shortest way to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndPath {
    pub end: End,
    /// The steps in their order, each with the index of the outcome it reports.
    pub steps: Vec<(usize, usize)>,
    /// Whether the last outcome is `other`; then there is no way without it.
    pub by_other: bool,
}

impl End {
    pub(super) fn of(transition: &Transition) -> Option<End> {
        match transition {
            Transition::Next(_) => None,
            Transition::Exit { reason, ending } => Some(End::Exit(reason.clone(), *ending)),
            Transition::Restart { recipe, .. } => Some(End::Restart(recipe.clone())),
        }
    }
}

/// The shortest way to each end, in the order in which the file names the ends. Of two ways the
/// one that a session has room for, and then the one that does not end on `other`, is the better
/// example.
pub(super) fn end_paths(recipe: &Recipe, graph: &Graph, limit: u32) -> Vec<EndPath> {
    let rank = |by_other: bool, steps: usize| (steps > limit as usize, by_other, steps);
    let ways = shortest(recipe, graph.initial);
    let mut found: Vec<EndPath> = Vec::new();
    for (step, way) in recipe.steps.iter().zip(&ways) {
        let Some(way) = way else { continue };
        for (index, outcome) in step.outcomes.iter().enumerate() {
            let Some(end) = End::of(&outcome.then) else { continue };
            let at = way.step;
            let by_other = outcome.name == OTHER;
            let new = rank(by_other, way.distance);
            match found.iter_mut().find(|path| path.end == end) {
                Some(known) if rank(known.by_other, known.steps.len()) <= new => {}
                known => {
                    let steps = walked(&ways, at, index);
                    let path = EndPath { end, steps, by_other };
                    match known {
                        Some(known) => *known = path,
                        None => found.push(path),
                    }
                }
            }
        }
    }
    found
}

#[derive(Debug, Clone)]
struct Way {
    step: usize,
    /// How many steps have run when this one has.
    distance: usize,
    /// The step before it, with its outcome.
    before: Option<(usize, usize)>,
}

fn shortest(recipe: &Recipe, initial: usize) -> Vec<Option<Way>> {
    let mut ways: Vec<Option<Way>> = vec![None; recipe.steps.len()];
    ways[initial] = Some(Way { step: initial, distance: 1, before: None });
    let mut queue = VecDeque::from([(initial, 1)]);
    while let Some((step, distance)) = queue.pop_front() {
        for (index, outcome) in recipe.steps[step].outcomes.iter().enumerate() {
            if let Transition::Next(next) = outcome.then
                && ways[next].is_none()
            {
                let before = Some((step, index));
                ways[next] = Some(Way { step: next, distance: distance + 1, before });
                queue.push_back((next, distance + 1));
            }
        }
    }
    ways
}

fn walked(ways: &[Option<Way>], last: usize, outcome: usize) -> Vec<(usize, usize)> {
    let mut steps = vec![(last, outcome)];
    let mut at = last;
    while let Some(before) = ways[at].as_ref().and_then(|way| way.before) {
        steps.push(before);
        at = before.0;
    }
    steps.reverse();
    steps
}

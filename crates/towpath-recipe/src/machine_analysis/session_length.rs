//! How long a session can run under the guardrails. Which steps may still be entered depends only
//! on how often the steps that lead back to here were entered, so the search forgets a loop once it
//! is left: machines of many loops in a row stay small. When there are still too many states, an
//! upper bound is given, and it is marked as one.

use super::step_graph::Graph;
use crate::recipe::Guardrails;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An agent step asks once, and again when the answer has no outcome.
pub(super) const CALLS_PER_VISIT: u64 = 2;

/// How much is searched before an upper bound has to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    pub states: usize,
    /// Counters in all states together: what bounds the memory of very large loops.
    pub counters: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { states: 100_000, counters: 20_000_000 }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Walks {
    pub steps: u64,
    pub calls: u64,
    /// The steps that can be refused by their limit of visits, each with those it can follow then.
    pub refused: BTreeMap<usize, BTreeSet<usize>>,
    pub total_refused: bool,
    pub exact: bool,
}

/// A step just entered, and how often each step of its loop was. Outside of loops nothing is counted.
type State = (usize, Box<[u32]>);

pub(super) fn walks(graph: &Graph, asks: &[bool], limits: Guardrails, effort: Effort) -> Walks {
    search(graph, asks, limits, effort).unwrap_or_else(|| upper_bound(graph, asks, limits))
}

/// One layer of states per number of steps; a state keeps the most calls it can be reached with.
fn search(graph: &Graph, asks: &[bool], limits: Guardrails, effort: Effort) -> Option<Walks> {
    let calls = |step: usize| if asks[step] { CALLS_PER_VISIT } else { 0 };
    let mut walks = Walks { exact: true, ..Walks::default() };
    let first = entered(graph, None, graph.initial);
    let mut layer: HashMap<State, u64> = HashMap::from([(first, calls(graph.initial))]);
    let (mut states, mut counters) = (0, 0);
    while !layer.is_empty() {
        walks.steps += 1;
        states += layer.len();
        let full = walks.steps >= u64::from(limits.max_total_steps);
        let mut following: HashMap<State, u64> = HashMap::new();
        for (state, spent) in &layer {
            walks.calls = walks.calls.max(*spent);
            counters += state.1.len();
            for next in &graph.next[state.0] {
                let state_of_next = entered(graph, Some(state), *next);
                if visits(graph, &state_of_next) > limits.max_step_visits {
                    walks.refused.entry(*next).or_default().insert(state.0);
                } else if full {
                    walks.total_refused = true;
                } else {
                    let most = following.entry(state_of_next).or_default();
                    *most = (*most).max(spent + calls(*next));
                }
            }
            if states + following.len() > effort.states || counters > effort.counters {
                return None;
            }
        }
        layer = following;
    }
    Some(walks)
}

fn entered(graph: &Graph, before: Option<&State>, step: usize) -> State {
    let position = graph.positions[step];
    let component = graph.component(step);
    if !component.cyclic {
        return (step, Box::default());
    }
    let mut counts = match before {
        Some((last, counts)) if graph.positions[*last].component == position.component => {
            counts.clone()
        }
        _ => vec![0; component.steps.len()].into_boxed_slice(),
    };
    counts[position.index] = counts[position.index].saturating_add(1);
    (step, counts)
}

/// How often the state's step has been entered.
fn visits(graph: &Graph, (step, counts): &State) -> u32 {
    counts.get(graph.positions[*step].index).copied().unwrap_or(1)
}

/// Every step of a loop as often as it may, along the dearest way from loop to loop.
fn upper_bound(graph: &Graph, asks: &[bool], limits: Guardrails) -> Walks {
    let (visits, total) = (u64::from(limits.max_step_visits), u64::from(limits.max_total_steps));
    let mut most: Vec<(u64, u64)> = Vec::with_capacity(graph.components.len());
    for component in &graph.components {
        let times = if component.cyclic { visits } else { 1 };
        let asking = component.steps.iter().filter(|step| asks[**step]).count() as u64;
        let mut after = (0, 0);
        for next in component.steps.iter().flat_map(|step| &graph.next[*step]) {
            if let Some((steps, calls)) = most.get(graph.positions[*next].component) {
                after = (after.0.max(*steps), after.1.max(*calls));
            }
        }
        let steps = times.saturating_mul(component.steps.len() as u64).saturating_add(after.0);
        let calls = times.saturating_mul(asking * CALLS_PER_VISIT).saturating_add(after.1);
        most.push((steps, calls));
    }
    let (steps, calls) = most[graph.positions[graph.initial].component];
    let mut refused: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (step, next) in graph.next.iter().enumerate().filter(|(step, _)| graph.reachable[*step]) {
        let component = graph.positions[step].component;
        for next in next.iter().filter(|next| graph.positions[**next].component == component) {
            refused.entry(*next).or_default().insert(step);
        }
    }
    let total_refused = steps > total;
    let calls = calls.min(total.saturating_mul(CALLS_PER_VISIT));
    Walks { steps: steps.min(total), calls, refused, total_refused, exact: false }
}

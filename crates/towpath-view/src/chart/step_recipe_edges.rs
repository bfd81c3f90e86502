//! What follows what in a step recipe. A condition is a node of its own, with an edge to its step and
//! one round it, so that a row of conditions needs two edges each and not one to every later step.

use super::Batch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    Batch(usize),
    /// The condition of a batch.
    Condition(usize),
    /// Only where the last batch has a condition.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub from: Node,
    pub to: Node,
    /// What the condition is, where one decides.
    pub label: Option<&'static str>,
}

pub fn edges(batches: &[Batch]) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut open: Vec<(Node, Option<&'static str>)> = Vec::new();
    for (at, batch) in batches.iter().enumerate() {
        let (step, condition) = (Node::Batch(at), Node::Condition(at));
        let to = if batch.condition.is_some() { condition } else { step };
        edges.extend(open.drain(..).map(|(from, label)| Edge { from, to, label }));
        if batch.condition.is_some() {
            edges.push(Edge { from: condition, to: step, label: Some("yes") });
            open.push((condition, Some("no")));
        }
        open.push((step, None));
    }
    if open.len() > 1 {
        edges.extend(open.into_iter().map(|(from, label)| Edge { from, to: Node::End, label }));
    }
    edges
}

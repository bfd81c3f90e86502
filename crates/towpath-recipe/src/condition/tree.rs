//! A condition as a tree. What may be long in a text is flat here (`or` and `and` terms, chains of
//! methods and indexes, runs of `not`), and the parser bounds the rest, so that walking, printing,
//! comparing and dropping a tree never goes deep.

use super::NameUse;
use super::vocabulary::{Function, Method};
use std::ops::Range;
use towpath_core::{Value, VarPath};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub kind: Kind,
    pub range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Literal(Value),
    Variable(VarPath),
    List(Vec<Node>),
    Call(Function, Vec<Node>),
    Chain(Box<Node>, Vec<Link>),
    Compare(Comparison, Box<(Node, Node)>),
    /// A run of `not`; an even run only asks for the truth.
    Not {
        odd: bool,
        inner: Box<Node>,
    },
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// What follows an operand: `.name`, `[…]` or `.method(…)`. The range begins at the dot or bracket.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Link {
    pub kind: LinkKind,
    pub range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum LinkKind {
    Field(String),
    Index(Node),
    Method(Method, Vec<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
}

impl Node {
    pub fn collect_names(&self, names: &mut Vec<NameUse>) {
        match &self.kind {
            Kind::Literal(_) => {}
            Kind::Variable(path) => {
                names.push(NameUse { path: path.clone(), range: self.range.clone() });
            }
            Kind::List(nodes) | Kind::Call(_, nodes) | Kind::And(nodes) | Kind::Or(nodes) => {
                nodes.iter().for_each(|node| node.collect_names(names));
            }
            Kind::Chain(base, links) => {
                base.collect_names(names);
                links.iter().for_each(|link| link.collect_names(names));
            }
            Kind::Compare(_, sides) => {
                sides.0.collect_names(names);
                sides.1.collect_names(names);
            }
            Kind::Not { inner, .. } => inner.collect_names(names),
        }
    }
}

impl Link {
    fn collect_names(&self, names: &mut Vec<NameUse>) {
        match &self.kind {
            LinkKind::Field(_) => {}
            LinkKind::Index(node) => node.collect_names(names),
            LinkKind::Method(_, nodes) => nodes.iter().for_each(|node| node.collect_names(names)),
        }
    }
}

//! A condition as a tree. What may be long in a text is flat here (`or` and `and` terms, chains of
//! methods and indexes, runs of `not`), and the parser bounds the rest, so that walking, printing,
//! comparing and dropping a tree never goes deep.

use super::NameUse;
use super::functions::{Function, Method};
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
    /// A run of `not`; an even run only makes a boolean of its operand.
    Not {
        odd: bool,
        inner: Box<Node>,
    },
    And(Vec<Node>),
    Or(Vec<Node>),
}

/// A link after an operand: `.name`, `[…]` or `.method(…)`. The range begins at the dot or bracket.
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
                let (path, range) = (path.clone(), self.range.clone());
                names.push(NameUse { path, range, compared: false });
            }
            Kind::List(nodes) | Kind::Call(_, nodes) | Kind::And(nodes) | Kind::Or(nodes) => {
                for node in nodes {
                    node.collect_names(names);
                }
            }
            Kind::Chain(base, links) => {
                base.collect_names(names);
                for link in links {
                    link.collect_names(names);
                }
            }
            Kind::Compare(comparison, sides) => {
                let is_membership = matches!(comparison, Comparison::In | Comparison::NotIn);
                sides.0.collect_compared(!matches!(sides.1.kind, Kind::Literal(_)), names);
                match &sides.1.kind {
                    Kind::List(items) if is_membership => {
                        for item in items {
                            item.collect_compared(true, names);
                        }
                    }
                    _ => {
                        let literal = matches!(sides.0.kind, Kind::Literal(_));
                        sides.1.collect_compared(!literal && !is_membership, names);
                    }
                }
            }
            Kind::Not { inner, .. } => inner.collect_names(names),
        }
    }
}

impl Node {
    /// Whether this is true or false as a variable is, or computed from that.
    pub fn asks(&self, root: &str) -> bool {
        match &self.kind {
            Kind::Variable(path) => path.root() == root,
            Kind::And(terms) | Kind::Or(terms) | Kind::Call(Function::Bool, terms) => {
                terms.iter().any(|term| term.asks(root))
            }
            Kind::Not { inner, .. } => inner.asks(root),
            _ => false,
        }
    }

    fn collect_compared(&self, compared: bool, names: &mut Vec<NameUse>) {
        let before = names.len();
        self.collect_names(names);
        if let (true, Kind::Variable(_)) = (compared, &self.kind) {
            names[before..].iter_mut().for_each(|name| name.compared = true);
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

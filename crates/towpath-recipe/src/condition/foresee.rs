//! Evaluates a tree while some variables have no value yet: what is true whatever they turn out to
//! be. It is careful to one side: where two values of a variable could lead to different results, or
//! one of them to an error, the result is unknown. What is known it leaves to the one evaluation
//! there is.

use super::EvalError;
use super::evaluate::Evaluation;
use super::functions::Function;
use super::tree::{Kind, Link, LinkKind, Node};
use super::truthy::{compare, decided, truthy};
use std::borrow::Cow;
use towpath_core::{Value, VarPath};

pub(super) struct Foresight<'a> {
    pub evaluation: Evaluation<'a>,
    pub unknown: &'a dyn Fn(&VarPath) -> bool,
}

/// An operand, as far as it is known.
pub(super) enum Seen<'a> {
    Value(Cow<'a, Value>),
    Unknown(Guess),
}

/// A value that is not there yet, as far as it is known.
#[derive(Clone, Copy)]
pub(super) struct Guess {
    /// Whether it is true, where that is the same for every value it may have.
    pub is_true: Option<bool>,
    /// Some values of the variables make this an error.
    pub may_fail: bool,
}

const ANYTHING: Guess = Guess { is_true: None, may_fail: false };
const RISKY: Guess = Guess { is_true: None, may_fail: true };

/// An error here is one for every value of the unknown variables.
type Outlook<'a> = Result<Seen<'a>, EvalError>;

impl Seen<'_> {
    fn is_true(&self) -> Option<bool> {
        match self {
            Seen::Value(value) => Some(truthy(value)),
            Seen::Unknown(guess) => guess.is_true,
        }
    }

    fn may_fail(&self) -> bool {
        matches!(self, Seen::Unknown(guess) if guess.may_fail)
    }

    fn value(&self) -> Option<&Value> {
        match self {
            Seen::Value(value) => Some(value),
            Seen::Unknown(_) => None,
        }
    }

    /// The result that is certain.
    pub fn certain(&self) -> Option<bool> {
        self.is_true().filter(|_| !self.may_fail())
    }

    /// A value that is only reached where something before it has not failed.
    fn after(self, may_fail: bool) -> Self {
        match self {
            seen if !may_fail => seen,
            seen => Seen::Unknown(Guess { is_true: seen.is_true(), may_fail }),
        }
    }
}

impl<'a> Foresight<'a> {
    pub fn look(&mut self, node: &'a Node) -> Outlook<'a> {
        if !self.reads_unknown(node) {
            return self.evaluation.value(node).map(Seen::Value);
        }
        match &node.kind {
            Kind::Literal(value) => Ok(Seen::Value(Cow::Borrowed(value))),
            Kind::Variable(_) => Ok(Seen::Unknown(ANYTHING)),
            Kind::List(items) => {
                // What a list of unknown values takes may be more than one may make.
                self.all(items)?;
                Ok(Seen::Unknown(Guess { is_true: Some(true), may_fail: true }))
            }
            Kind::Call(function, arguments) => self.call(*function, arguments),
            Kind::Chain(base, links) => self.chain(base, links),
            Kind::And(terms) => self.first(terms, false),
            Kind::Or(terms) => self.first(terms, true),
            Kind::Not { odd, inner } => {
                let inner = self.look(inner)?;
                Ok(boolean(inner.is_true().map(|is_true| is_true != *odd), inner.may_fail()))
            }
            Kind::Compare(comparison, sides) => {
                let (left, right) = (self.look(&sides.0)?, self.look(&sides.1)?);
                let is_true = match (left.value(), right.value()) {
                    (Some(left), Some(right)) => Some(compare(*comparison, left, right)),
                    (left, right) => decided(*comparison, left, right),
                };
                Ok(boolean(is_true, left.may_fail() || right.may_fail()))
            }
        }
    }

    fn reads_unknown(&self, node: &Node) -> bool {
        let mut names = Vec::new();
        node.collect_names(&mut names);
        names.iter().any(|name| (self.unknown)(&name.path))
    }

    /// Looks at every operand; whether one of them may fail.
    fn all(&mut self, nodes: &'a [Node]) -> Result<bool, EvalError> {
        let mut may_fail = false;
        for node in nodes {
            may_fail |= self.look(node)?.may_fail();
        }
        Ok(may_fail)
    }

    fn call(&mut self, function: Function, arguments: &'a [Node]) -> Outlook<'a> {
        if let (Function::Bool, [argument]) = (function, arguments) {
            let argument = self.look(argument)?;
            return Ok(boolean(argument.is_true(), argument.may_fail()));
        }
        let may_fail = self.all(arguments)?;
        Ok(Seen::Unknown(match function {
            Function::Int | Function::Float | Function::Str => RISKY,
            _ => Guess { may_fail, ..ANYTHING },
        }))
    }

    fn chain(&mut self, base: &'a Node, links: &'a [Link]) -> Outlook<'a> {
        let mut guess = match self.look(base)? {
            Seen::Unknown(guess) => Guess { is_true: None, ..guess },
            // Which link is the first unknown one does not matter: the value is.
            Seen::Value(_) => ANYTHING,
        };
        for link in links {
            match &link.kind {
                LinkKind::Field(_) => {}
                LinkKind::Index(index) => guess.may_fail |= self.look(index)?.may_fail(),
                LinkKind::Method(_, arguments) => {
                    // A receiver or an argument that is no string is an error.
                    self.all(arguments)?;
                    guess = RISKY;
                }
            }
        }
        Ok(Seen::Unknown(guess))
    }

    /// The first term that decides, else the last one.
    fn first(&mut self, terms: &'a [Node], decides: bool) -> Outlook<'a> {
        let mut may_fail = false;
        let mut may_be_over = false;
        let mut last = Seen::Unknown(ANYTHING);
        for term in terms {
            last = match self.look(term) {
                Err(_) if may_be_over => return Ok(Seen::Unknown(RISKY)),
                seen => seen?,
            };
            may_fail |= last.may_fail();
            match last.is_true() {
                Some(is_true) if is_true == decides => {
                    if may_be_over {
                        return Ok(Seen::Unknown(Guess { is_true: Some(decides), may_fail }));
                    }
                    return Ok(last.after(may_fail));
                }
                Some(_) => {}
                None => may_be_over = true,
            }
        }
        match may_be_over {
            true => Ok(Seen::Unknown(Guess { is_true: None, may_fail })),
            false => Ok(last.after(may_fail)),
        }
    }
}

fn boolean<'a>(is_true: Option<bool>, may_fail: bool) -> Seen<'a> {
    match is_true {
        Some(is_true) if !may_fail => Seen::Value(Cow::Owned(Value::Bool(is_true))),
        is_true => Seen::Unknown(Guess { is_true, may_fail }),
    }
}

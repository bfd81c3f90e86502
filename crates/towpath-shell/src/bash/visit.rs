//! Walks a tree down to the last word, in text order, and shows its commands and parts to a visitor,
//! with the constructs that are entered and left. It changes nothing.

use super::nesting::Nesting;
use super::tree::*;
use std::ops::Range;

pub trait Visitor {
    fn statement(&mut self, _statement: &Statement) {}
    fn comments(&mut self, _comments: &[Range<usize>]) {}
    fn assignment(&mut self, _assignment: &Assignment) {}
    fn word(&mut self, _word: &Word) {}
    fn part(&mut self, _part: &Part) {}
    /// Text that bash calculates with, and the words in it. `array` is what it is the subscript of.
    fn calculated(&mut self, _array: Option<&str>, _range: &Range<usize>, _parts: &[Part]) {}
    fn enter(&mut self, _nesting: Nesting) {}
    fn leave(&mut self) {}
}

fn within(nesting: Nesting, visitor: &mut dyn Visitor, inner: impl FnOnce(&mut dyn Visitor)) {
    visitor.enter(nesting);
    inner(visitor);
    visitor.leave();
}

pub fn block(block: &Block, visitor: &mut dyn Visitor) {
    visitor.comments(&block.comments);
    for s in &block.statements {
        statement(s, visitor);
    }
}

fn statement(s: &Statement, visitor: &mut dyn Visitor) {
    visitor.comments(&s.comments);
    let around = [(s.background, Nesting::Background), (s.negated, Nesting::Negated)];
    let around: Vec<Nesting> = around.into_iter().filter_map(|(is, n)| is.then_some(n)).collect();
    let entered = around.len();
    for n in around {
        visitor.enter(n);
    }
    visitor.statement(s);
    command(&s.command, visitor);
    for redirect in &s.redirects {
        match &redirect.target {
            Target::File(word) | Target::Duplicate(word) | Target::HereString(word) => {
                one_word(word, visitor);
            }
            Target::HereDoc(heredoc) => {
                within(Nesting::HereDocument, visitor, |v| parts(&heredoc.parts, v));
            }
        }
    }
    (0..entered).for_each(|_| visitor.leave());
}

fn command(command: &Command, visitor: &mut dyn Visitor) {
    match command {
        Command::Simple(simple) => {
            assignments(&simple.assignments, visitor);
            words(&simple.words, visitor);
        }
        Command::Declare(d) => {
            assignments(&d.prefix, visitor);
            words(&d.flags, visitor);
            d.names.iter().for_each(|n| name(n, visitor));
            assignments(&d.assignments, visitor);
            words(&d.dynamic, visitor);
        }
        Command::Chain { first, rest } => chain(first, rest, visitor),
        Command::Compound(c) => {
            words(&c.words, visitor);
            c.arithmetic.iter().for_each(|a| arithmetic(a, visitor));
            compound(c, visitor);
        }
        Command::Case { word, arms } => {
            one_word(word, visitor);
            for arm in arms {
                arm.patterns.iter().for_each(|p| parts(p, visitor));
                within(Nesting::Branch, visitor, |v| block(&arm.body, v));
            }
        }
        Command::Test(operands) => operands.iter().for_each(|o| operand(o, visitor)),
        Command::Arithmetic(a) => arithmetic(a, visitor),
        Command::Function { names, body } => {
            words(names, visitor);
            within(Nesting::Function, visitor, |v| statement(body, v));
        }
    }
}

/// `a | b && c`: a pipe binds its two sides closer than `&&` and `||`.
fn chain(first: &Statement, rest: &[(Link, Statement)], visitor: &mut dyn Visitor) {
    let conditional = rest.iter().any(|(link, _)| *link != Link::Pipe);
    let mut right = false;
    for (index, s) in std::iter::once(first).chain(rest.iter().map(|(_, s)| s)).enumerate() {
        let before = index.checked_sub(1).map(|i| rest[i].0);
        let after = rest.get(index).map(|(link, _)| *link);
        right |= before.is_some_and(|link| link != Link::Pipe);
        let piped = before == Some(Link::Pipe) || after == Some(Link::Pipe);
        if conditional {
            visitor.enter(Nesting::AndOr { right });
        }
        match piped {
            true => within(Nesting::Pipeline, visitor, |v| statement(s, v)),
            false => statement(s, visitor),
        }
        if conditional {
            visitor.leave();
        }
    }
}

fn compound(c: &Compound, visitor: &mut dyn Visitor) {
    let nestings = |index: usize| match c.kind {
        CompoundKind::If if index.is_multiple_of(2) && index + 1 < c.blocks.len() => {
            (Nesting::Condition, None)
        }
        CompoundKind::If => (Nesting::Branch, None),
        CompoundKind::While | CompoundKind::Until if index == 0 => {
            (Nesting::Loop, Some(Nesting::Condition))
        }
        CompoundKind::While
        | CompoundKind::Until
        | CompoundKind::For
        | CompoundKind::ArithmeticFor
        | CompoundKind::Select => (Nesting::Loop, None),
        CompoundKind::Group => (Nesting::Group, None),
        CompoundKind::Subshell => (Nesting::Subshell, None),
        CompoundKind::Time => (Nesting::Timed, None),
        CompoundKind::Coprocess => (Nesting::Coprocess, None),
    };
    for (index, inner) in c.blocks.iter().enumerate() {
        let (outer, inside) = nestings(index);
        within(outer, visitor, |v| match inside {
            Some(inside) => within(inside, v, |v| block(inner, v)),
            None => block(inner, v),
        });
    }
}

fn operand(operand: &Operand, visitor: &mut dyn Visitor) {
    match operand {
        Operand::Word(word) | Operand::Regex(word) => one_word(word, visitor),
        Operand::Integer(word) => {
            visitor.calculated(None, &word.range, &word.parts);
            one_word(word, visitor);
        }
        Operand::Pattern(pattern) => parts(pattern, visitor),
        Operand::Name(_) => {}
    }
}

fn assignments(list: &[Assignment], visitor: &mut dyn Visitor) {
    for assignment in list {
        visitor.assignment(assignment);
        name(&assignment.target, visitor);
        match &assignment.value {
            AssignedValue::Scalar(word) => one_word(word, visitor),
            AssignedValue::Array(elements) => {
                for element in elements {
                    element.key.iter().for_each(|k| subscript(&assignment.target.name, k, visitor));
                    one_word(&element.value, visitor);
                }
            }
        }
    }
}

fn name(name: &Name, visitor: &mut dyn Visitor) {
    name.subscript.iter().for_each(|s| subscript(&name.name, s, visitor));
}

fn subscript(array: &str, subscript: &Subscript, visitor: &mut dyn Visitor) {
    visitor.calculated(Some(array), &subscript.range, &subscript.parts);
    parts(&subscript.parts, visitor);
}

fn words(words: &[Word], visitor: &mut dyn Visitor) {
    for w in words {
        one_word(w, visitor);
    }
}

fn one_word(word: &Word, visitor: &mut dyn Visitor) {
    visitor.word(word);
    parts(&word.parts, visitor);
}

fn arithmetic(a: &Arithmetic, visitor: &mut dyn Visitor) {
    visitor.calculated(None, &a.range, &a.parts);
    parts(&a.parts, visitor);
}

pub fn parts(list: &[Part], visitor: &mut dyn Visitor) {
    parts_within(list, false, visitor);
}

fn parts_within(list: &[Part], quoted: bool, visitor: &mut dyn Visitor) {
    let parts = |list: &[Part], visitor: &mut dyn Visitor| parts_within(list, quoted, visitor);
    for part in list {
        visitor.part(part);
        match part {
            Part::Double { parts: inner, .. } => parts_within(inner, true, visitor),
            Part::Substitution { body, range, kind } => {
                let nesting = Nesting::Substitution { kind: *kind, range: range.clone(), quoted };
                within(nesting, visitor, |v| block(body, v));
            }
            Part::Arithmetic(a) => arithmetic(a, visitor),
            Part::Parameter(parameter) => {
                name(&parameter.target, visitor);
                match &parameter.operation {
                    Operation::None => {}
                    Operation::Value(p) | Operation::Pattern(p) => parts(p, visitor),
                    Operation::Slice(p) => {
                        let slice = parameter.target.range.end..parameter.range.end;
                        visitor.calculated(None, &slice, p);
                        parts(p, visitor);
                    }
                    Operation::Replace { pattern, with } => {
                        parts(pattern, visitor);
                        parts(with, visitor);
                    }
                }
            }
            Part::Literal(_)
            | Part::Single(_)
            | Part::Ansi(_)
            | Part::Variable { .. }
            | Part::Class(_)
            | Part::Unclear(_) => {}
        }
    }
}

//! Walks a syntax tree down to the last word, in text order, and shows its commands and parts to a
//! visitor. For questions about the whole text; it keeps no context and changes nothing.

use crate::bash::tree::*;
use std::ops::Range;

pub trait Visitor {
    fn statement(&mut self, _statement: &Statement) {}
    fn comments(&mut self, _comments: &[std::ops::Range<usize>]) {}
    fn assignment(&mut self, _assignment: &Assignment) {}
    fn word(&mut self, _word: &Word) {}
    fn part(&mut self, _part: &Part) {}
    /// Text that bash calculates with, and the words in it. `array` is what it is the subscript of.
    fn calculated(&mut self, _array: Option<&str>, _range: &Range<usize>, _parts: &[Part]) {}
}

pub fn block(block: &Block, visitor: &mut dyn Visitor) {
    visitor.comments(&block.comments);
    for s in &block.statements {
        statement(s, visitor);
    }
}

fn statement(s: &Statement, visitor: &mut dyn Visitor) {
    visitor.comments(&s.comments);
    visitor.statement(s);
    match &s.command {
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
        Command::Chain { first, rest } => {
            statement(first, visitor);
            rest.iter().for_each(|(_, s)| statement(s, visitor));
        }
        Command::Compound(c) => {
            words(&c.words, visitor);
            c.arithmetic.iter().for_each(|a| arithmetic(a, visitor));
            c.blocks.iter().for_each(|b| block(b, visitor));
        }
        Command::Case { word, arms } => {
            one_word(word, visitor);
            for arm in arms {
                arm.patterns.iter().for_each(|p| parts(p, visitor));
                block(&arm.body, visitor);
            }
        }
        Command::Test(operands) => operands.iter().for_each(|o| operand(o, visitor)),
        Command::Arithmetic(a) => arithmetic(a, visitor),
        Command::Function { names, body } => {
            words(names, visitor);
            statement(body, visitor);
        }
    }
    for redirect in &s.redirects {
        match &redirect.target {
            Target::File(word) | Target::Duplicate(word) | Target::HereString(word) => {
                one_word(word, visitor);
            }
            Target::HereDoc(heredoc) => parts(&heredoc.parts, visitor),
        }
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
    words.iter().for_each(|w| one_word(w, visitor));
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
    for part in list {
        visitor.part(part);
        match part {
            Part::Double { parts: inner, .. } => parts(inner, visitor),
            Part::Substitution { body, .. } => block(body, visitor),
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

//! Moves a tree to another text: code that was parsed on its own gets the ranges that it has in the
//! text around it.

use super::tree::*;
use std::ops::Range;

/// Gives the range of the text around for a range of the code.
pub type Moved<'a> = dyn Fn(&Range<usize>) -> Range<usize> + 'a;

fn range(range: &mut Range<usize>, moved: &Moved) {
    *range = moved(range);
}

fn block(block: &mut Block, moved: &Moved) {
    block.comments.iter_mut().for_each(|r| range(r, moved));
    block.statements.iter_mut().for_each(|s| statement(s, moved));
}

fn statement(s: &mut Statement, moved: &Moved) {
    s.comments.iter_mut().for_each(|r| range(r, moved));
    s.redirects.iter_mut().for_each(|r| redirect(r, moved));
    match &mut s.command {
        Command::Simple(simple) => {
            range(&mut simple.range, moved);
            simple.assignments.iter_mut().for_each(|a| assignment(a, moved));
            simple.words.iter_mut().for_each(|w| word(w, moved));
        }
        Command::Declare(d) => {
            range(&mut d.range, moved);
            range(&mut d.name, moved);
            d.prefix.iter_mut().chain(&mut d.assignments).for_each(|a| assignment(a, moved));
            d.flags.iter_mut().chain(&mut d.dynamic).for_each(|w| word(w, moved));
            d.names.iter_mut().for_each(|n| name(n, moved));
        }
        Command::Chain { first, rest } => {
            statement(first, moved);
            for (_, s) in rest.iter_mut() {
                statement(s, moved);
            }
        }
        Command::Compound(c) => {
            range(&mut c.range, moved);
            c.names.iter_mut().for_each(|r| range(r, moved));
            c.words.iter_mut().for_each(|w| word(w, moved));
            c.arithmetic.iter_mut().for_each(|a| arithmetic(a, moved));
            c.blocks.iter_mut().for_each(|b| block(b, moved));
        }
        Command::Case { word: subject, arms } => {
            word(subject, moved);
            for arm in arms {
                arm.patterns.iter_mut().for_each(|p| parts(p, moved));
                block(&mut arm.body, moved);
            }
        }
        Command::Test(operands) => operands.iter_mut().for_each(|o| operand(o, moved)),
        Command::Arithmetic(a) => arithmetic(a, moved),
        Command::Function { names, body } => {
            for w in names.iter_mut() {
                word(w, moved);
            }
            statement(body, moved);
        }
    }
}

fn operand(operand: &mut Operand, moved: &Moved) {
    match operand {
        Operand::Word(w) | Operand::Regex(w) | Operand::Integer(w) => word(w, moved),
        Operand::Pattern(p) => parts(p, moved),
        Operand::Name(r) => range(r, moved),
    }
}

pub fn redirect(redirect: &mut Redirect, moved: &Moved) {
    range(&mut redirect.range, moved);
    match &mut redirect.target {
        Target::File(w) | Target::Duplicate(w) | Target::HereString(w) => word(w, moved),
        Target::HereDoc(doc) => {
            range(&mut doc.delimiter, moved);
            range(&mut doc.body, moved);
            parts(&mut doc.parts, moved);
        }
    }
}

pub fn assignment(assignment: &mut Assignment, moved: &Moved) {
    range(&mut assignment.range, moved);
    name(&mut assignment.target, moved);
    match &mut assignment.value {
        AssignedValue::Scalar(w) => word(w, moved),
        AssignedValue::Array(elements) => {
            for element in elements {
                element.key.iter_mut().for_each(|k| subscript(k, moved));
                word(&mut element.value, moved);
            }
        }
    }
}

fn name(name: &mut Name, moved: &Moved) {
    range(&mut name.range, moved);
    name.subscript.iter_mut().for_each(|s| subscript(s, moved));
}

fn subscript(subscript: &mut Subscript, moved: &Moved) {
    range(&mut subscript.range, moved);
    parts(&mut subscript.parts, moved);
}

pub fn word(word: &mut Word, moved: &Moved) {
    range(&mut word.range, moved);
    word.sequences.iter_mut().for_each(|r| range(r, moved));
    parts(&mut word.parts, moved);
}

fn arithmetic(arithmetic: &mut Arithmetic, moved: &Moved) {
    range(&mut arithmetic.range, moved);
    parts(&mut arithmetic.parts, moved);
}

fn parts(list: &mut [Part], moved: &Moved) {
    for part in list {
        match part {
            Part::Literal(r)
            | Part::Single(r)
            | Part::Ansi(r)
            | Part::Class(r)
            | Part::Unclear(r)
            | Part::Variable { range: r, .. } => range(r, moved),
            Part::Double { range: r, parts: inner } => {
                range(r, moved);
                parts(inner, moved);
            }
            Part::Substitution { range: r, body, .. } => {
                range(r, moved);
                block(body, moved);
            }
            Part::Arithmetic(a) => arithmetic(a, moved),
            Part::Parameter(parameter) => {
                range(&mut parameter.range, moved);
                name(&mut parameter.target, moved);
                match &mut parameter.operation {
                    Operation::None => {}
                    Operation::Value(p) | Operation::Pattern(p) | Operation::Slice(p) => {
                        parts(p, moved);
                    }
                    Operation::Replace { pattern, with } => {
                        parts(pattern, moved);
                        parts(with, moved);
                    }
                }
            }
        }
    }
}

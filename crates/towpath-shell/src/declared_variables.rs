//! Variables that a text visibly declares to be integers, references or associative arrays.
//!
//! It only decides what to write: a value becomes digits, a key, or is refused. Safety does not
//! depend on it: whatever it does not see, bash is asked about when the script runs (`guards`).

use crate::bash::tree::*;
use crate::bash::visit::{self, Visitor};
use crate::builtin_calls;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Default)]
pub struct DeclaredVariables {
    integers: HashSet<String>,
    references: HashSet<String>,
    /// References that are declared with what they refer to. Where only bash knows that, it is the
    /// reference itself.
    bound: HashMap<String, String>,
    associative: HashSet<String>,
}

/// Variables that bash itself keeps as integers: it evaluates what is assigned to them.
const BUILT_IN_INTEGERS: [&str; 6] =
    ["RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO"];
/// Variables that bash sets from what commands are given and what they read.
const SET_BY_BASH: [&str; 7] = ["_", "PWD", "OLDPWD", "OPTARG", "REPLY", "MAPFILE", "BASH_ARGV0"];

impl DeclaredVariables {
    pub fn add(&mut self, block: &Block) {
        visit::block(block, self);
    }

    pub fn integer(&self, name: &str) -> bool {
        self.integers.contains(name) || BUILT_IN_INTEGERS.contains(&name)
    }

    pub fn reference(&self, name: &str) -> bool {
        self.references.contains(name)
    }

    /// The variable that gets what is assigned to `name`, as far as the text shows it; none for a
    /// reference without a target.
    pub fn target<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let mut target = name;
        for _ in 0..self.bound.len() {
            if self.reference(target) {
                target = self.bound.get(target)?;
            }
        }
        (!self.reference(target) || self.bound.contains_key(target)).then_some(target)
    }

    pub fn associative(&self, name: &str) -> bool {
        self.associative.contains(name)
    }

    /// Whether bash evaluates what is assigned to some variable of this text.
    pub fn any_evaluated(&self) -> bool {
        !(self.integers.is_empty() && self.references.is_empty())
    }

    /// Whether bash evaluates what it sets from a command's own words.
    pub fn arguments_are_evaluated(&self) -> bool {
        SET_BY_BASH.iter().any(|name| self.integers.contains(*name) || self.reference(name))
    }

    fn declaration<'a>(&mut self, variant: &str, operands: impl Iterator<Item = &'a str>) {
        let (flags, names): (Vec<&str>, Vec<&str>) =
            operands.filter(|o| !o.starts_with('+')).partition(|o| o.starts_with('-'));
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = names.into_iter().map(|n| n[..n.find(|c| !name(c)).unwrap_or(n.len())].into());
        let names: Vec<String> = names.collect();
        for letter in flags.concat().chars() {
            let set = match letter {
                'i' => &mut self.integers,
                // `export -n` takes the export away.
                'n' if variant != "export" => &mut self.references,
                'A' => &mut self.associative,
                _ => continue,
            };
            set.extend(names.iter().cloned());
        }
    }
}

impl Visitor for DeclaredVariables {
    fn statement(&mut self, statement: &Statement) {
        match &statement.command {
            Command::Declare(declare) => {
                let words = declare.flags.iter().chain(&declare.dynamic);
                let targets = declare.assignments.iter().map(|a| &a.target);
                let names = declare.names.iter().chain(targets).map(|n| n.name.as_str());
                let operands = words.filter_map(|w| w.text.as_deref()).chain(names);
                self.declaration(&declare.variant, operands);
                let bound = declare.assignments.iter().map(|a| {
                    let fixed = match &a.value {
                        AssignedValue::Scalar(word) => word.text.as_deref(),
                        AssignedValue::Array(_) => None,
                    };
                    (a.target.name.clone(), fixed.unwrap_or(&a.target.name).to_owned())
                });
                self.bound.extend(bound);
            }
            Command::Simple(simple) => match builtin_calls::called(simple) {
                Some((name, arguments)) if builtin_calls::declares(name) => {
                    self.declaration(name, arguments.iter().filter_map(|w| w.text.as_deref()));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

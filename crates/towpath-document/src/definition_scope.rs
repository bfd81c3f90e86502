//! The variables and commands that are defined at one point of a document. A value that comes from a
//! command is not known before that has run.

use crate::directive::Definition;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use towpath_core::{Map, Value, VarPath, lookup, nearest};

/// Values that a document gets from outside.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Variables that are defined before the first line.
    pub values: Map,
    /// They win over what the document defines, as `--set` does.
    pub override_definitions: bool,
    /// The names in the environment of its commands.
    pub exported: Arc<BTreeSet<String>>,
}

impl From<Map> for Inputs {
    fn from(values: Map) -> Inputs {
        Inputs { values, ..Inputs::default() }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    known: Map,
    /// Names that the user has set: nothing replaces them.
    fixed: BTreeSet<String>,
    /// Sorted, as the commands are: of names that are equally near, the same one is always suggested.
    unknown: BTreeSet<String>,
    /// Those of them that are text, whatever it is: text has no fields.
    unknown_texts: BTreeSet<String>,
    /// A name that is not defined here may be defined later, outside.
    open: bool,
    commands: BTreeMap<String, DefinedCommand>,
}

/// Among how many names one is looked for that is near: a document with more was not typed.
const MOST_COMPARED: usize = 1_000;

#[derive(Debug, Clone)]
pub(crate) enum DefinedCommand {
    Known(Arc<Definition>),
    /// Its definition could not be read.
    Broken,
}

/// A value that may not be known yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Computed<T> {
    Known(T),
    Unknown,
}

impl<T> Computed<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Computed<U> {
        match self {
            Computed::Known(value) => Computed::Known(change(value)),
            Computed::Unknown => Computed::Unknown,
        }
    }

    pub fn known(self) -> Option<T> {
        match self {
            Computed::Known(value) => Some(value),
            Computed::Unknown => None,
        }
    }

    pub fn both<U>(one: Computed<T>, other: Computed<U>) -> Computed<(T, U)> {
        match (one, other) {
            (Computed::Known(one), Computed::Known(other)) => Computed::Known((one, other)),
            _ => Computed::Unknown,
        }
    }

    /// Known if all of them are.
    pub fn all(values: Vec<Computed<T>>) -> Computed<Vec<T>> {
        let known: Option<Vec<T>> = values.into_iter().map(Computed::known).collect();
        known.map_or(Computed::Unknown, Computed::Known)
    }
}

/// Why a reference has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Nothing of that name.
    Variable,
    /// The variable is there, its field is not.
    Field,
    /// `{{$n}}` outside of a definition, or in one that names its parameters.
    NoArguments,
    /// `{{$n}}` with fewer arguments.
    Argument(usize),
}

/// What a call gives to the command that it calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Locals {
    pub parameters: Option<Vec<String>>,
    pub arguments: Vec<Computed<String>>,
}

impl Scope {
    pub fn of_inputs(inputs: &Inputs) -> Scope {
        let names = inputs.values.keys().filter(|_| inputs.override_definitions);
        let (known, fixed) = (inputs.values.clone(), names.cloned().collect());
        Scope { known, fixed, ..Scope::default() }
    }

    pub fn open() -> Scope {
        Scope { open: true, ..Scope::default() }
    }

    /// A text that is not known yet.
    pub fn set_unknown_text(&mut self, name: &str) {
        self.set(name, Computed::Unknown);
        if self.unknown.contains(name) {
            self.unknown_texts.insert(name.to_owned());
        }
    }

    pub fn set(&mut self, name: &str, value: Computed<Value>) {
        if self.fixed.contains(name) {
            return;
        }
        self.unknown_texts.remove(name);
        match value {
            Computed::Known(value) => {
                self.unknown.remove(name);
                self.known.insert(name.to_owned(), value);
            }
            Computed::Unknown => {
                self.known.shift_remove(name);
                self.unknown.insert(name.to_owned());
            }
        }
    }

    pub fn define(&mut self, name: &str, command: DefinedCommand) {
        self.commands.insert(name.to_owned(), command);
    }

    pub fn command(&self, name: &str) -> Option<&DefinedCommand> {
        self.commands.get(name)
    }

    pub fn nearest_command(&self, name: &str) -> Option<&str> {
        nearest(name, self.commands.keys().map(String::as_str).take(MOST_COMPARED))
    }

    pub fn nearest_variable(&self, name: &str) -> Option<&str> {
        let names = self.known.keys().chain(&self.unknown).map(String::as_str);
        nearest(name, names.take(MOST_COMPARED))
    }

    pub fn is_variable(&self, name: &str) -> bool {
        self.known.contains_key(name) || self.unknown.contains(name)
    }

    /// The value of a reference, where `locals` are in front of the document's variables. One that
    /// may be missing is empty then.
    pub fn find(
        &self,
        path: &VarPath,
        locals: Option<&Locals>,
    ) -> Result<Computed<Value>, Missing> {
        match self.defined(path, locals) {
            Err(missing) if path.is_optional() && missing != Missing::NoArguments => {
                Ok(Computed::Known(Value::from("")))
            }
            found => found,
        }
    }

    fn defined(&self, path: &VarPath, locals: Option<&Locals>) -> Result<Computed<Value>, Missing> {
        if let Some(number) = positional(path) {
            return locals.map_or(Err(Missing::NoArguments), |locals| locals.positional(number));
        }
        if let Some(found) = locals.and_then(|locals| locals.parameter(path)) {
            return found;
        }
        if let Some(value) = lookup(&self.known, path) {
            return Ok(Computed::Known(value.clone()));
        }
        let root = path.root();
        if self.unknown_texts.contains(root) && path.as_str() != root {
            return Err(Missing::Field);
        }
        if self.unknown.contains(root) || (self.open && !self.known.contains_key(root)) {
            return Ok(Computed::Unknown);
        }
        if self.known.contains_key(root) {
            return Err(Missing::Field);
        }
        Err(Missing::Variable)
    }

    /// Takes over what another file has defined: all of it, or these names.
    pub fn import(&mut self, other: &Scope, names: Option<&[(String, String)]>) -> Vec<String> {
        let all: Vec<(String, String)>;
        let names = match names {
            Some(names) => names,
            None => {
                let defined = other.known.keys().chain(&other.unknown).chain(other.commands.keys());
                all = defined.map(|name| (name.clone(), name.clone())).collect();
                &all
            }
        };
        let mut missing = Vec::new();
        for (name, here) in names {
            let mut found = false;
            if other.is_variable(name) {
                let value = other.known.get(name).cloned();
                self.set(here, value.map_or(Computed::Unknown, Computed::Known));
                if other.unknown_texts.contains(name) {
                    self.set_unknown_text(here);
                }
                found = true;
            }
            if let Some(command) = other.commands.get(name) {
                self.define(here, command.clone());
                found = true;
            }
            if !found {
                missing.push(name.clone());
            }
        }
        missing
    }
}

impl Locals {
    fn positional(&self, number: usize) -> Result<Computed<Value>, Missing> {
        if self.parameters.is_some() {
            return Err(Missing::NoArguments);
        }
        let argument = number.checked_sub(1).and_then(|index| self.arguments.get(index));
        argument.map(as_value).ok_or(Missing::Argument(self.arguments.len()))
    }

    /// A parameter is text: it has no fields.
    fn parameter(&self, path: &VarPath) -> Option<Result<Computed<Value>, Missing>> {
        let names = self.parameters.as_ref()?;
        let index = names.iter().position(|name| name == path.root())?;
        if path.as_str() != path.root() {
            return Some(Err(Missing::Field));
        }
        Some(Ok(as_value(&self.arguments[index])))
    }
}

fn as_value(argument: &Computed<String>) -> Computed<Value> {
    match argument {
        Computed::Known(text) => Computed::Known(Value::String(text.clone())),
        Computed::Unknown => Computed::Unknown,
    }
}

/// The number of a `{{$n}}`.
pub(crate) fn positional(path: &VarPath) -> Option<usize> {
    let digits = path.as_str().bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| path.as_str().parse().unwrap_or(usize::MAX))
}

/// A reference as the author wrote it.
pub(crate) fn written(path: &VarPath) -> String {
    match positional(path) {
        Some(_) => format!("${path}"),
        None => path.to_string(),
    }
}

impl Locals {
    /// The arguments, by the names of the parameters or by their numbers, as far as they are known.
    pub fn shown(&self) -> Vec<(String, String)> {
        let arguments = self.arguments.iter().enumerate().map(|(index, argument)| {
            let names = self.parameters.as_ref();
            let name = names.and_then(|names| names.get(index)).cloned();
            let value = match argument {
                Computed::Known(text) => text.clone(),
                Computed::Unknown => "…".to_owned(),
            };
            (name.unwrap_or_else(|| format!("${}", index + 1)), value)
        });
        arguments.collect()
    }
}

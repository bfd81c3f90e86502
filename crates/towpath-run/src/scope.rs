//! The values that a step's command, prompt or directory is filled with: variables of its own in
//! front of its frame's context.

use crate::failure::{Failure, FailureKind};
use crate::frame::Frame;
use crate::job::JobWork;
use towpath_core::{Map, Part, Template, Value, VarPath, lookup, text_of};
use towpath_recipe::ValueTemplate;
use towpath_shell::{FillError, RecipeVariable, ShellText};

/// A job's work, and the variables of its environment.
pub(crate) type FilledWork = (JobWork, Vec<(String, String)>);

/// Variables in front of a frame's context.
pub(crate) struct Scope<'a> {
    pub extra: Map,
    pub frame: &'a Frame,
}

impl Scope<'_> {
    fn get(&self, path: &VarPath) -> Option<&Value> {
        lookup(&self.extra, path).or_else(|| lookup(&self.frame.context, path))
    }

    /// A name whose last output is no value.
    fn unreadable(&self, path: &VarPath) -> Option<Failure> {
        match self.extra.contains_key(path.root()) {
            true => None,
            false => self.frame.unreadable(path),
        }
    }

    pub fn render(&self, template: &Template) -> Result<String, Failure> {
        let mut out = String::new();
        for part in template.parts() {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Placeholder(placeholder) => {
                    if let Some(failure) = self.unreadable(&placeholder.path) {
                        return Err(failure);
                    }
                    out.push_str(&self.get(&placeholder.path).map(text_of).unwrap_or_default());
                }
            }
        }
        Ok(out)
    }

    /// The text with its values, and the variables of its environment.
    pub fn fill(&self, text: &ShellText) -> Result<FilledWork, Failure> {
        let read = text.placeholders().iter().map(|p| &p.path);
        let variables = text.recipe_variables().iter().map(|v| &v.path);
        if let Some(failure) = read.chain(variables).find_map(|p| self.unreadable(p)) {
            return Err(failure);
        }
        let filled = text.fill(&mut |path| self.get(path).map(text_of)).map_err(unfit)?;
        let mut environment = Vec::new();
        for variable in text.recipe_variables() {
            let value = match self.recipe_variable(variable) {
                Some(value) => text_of(value),
                None if variable.has_default => continue,
                None => String::new(),
            };
            environment.push(variable.set(value).map_err(unfit)?);
        }
        Ok((JobWork::Bash(filled), environment))
    }

    fn recipe_variable(&self, variable: &RecipeVariable) -> Option<&Value> {
        let exact = variable.exact();
        exact.and_then(|path| self.get(&path)).or_else(|| self.get(&variable.path))
    }

    /// The names that a command reads and nothing has set.
    pub fn undefined_in(&self, command: &ShellText) -> Vec<String> {
        let variables = command.recipe_variables().iter();
        let unset = variables
            .filter(|v| !v.has_default && self.recipe_variable(v).is_none())
            .map(|v| &v.path);
        self.undefined(command.placeholders().iter().map(|p| &p.path).chain(unset))
    }

    /// Checks that everything that a value is made from can be read.
    pub fn readable(&self, value: &ValueTemplate) -> Result<(), Failure> {
        let failed = paths_read(value).into_iter().find_map(|path| self.unreadable(path));
        failed.map_or(Ok(()), Err)
    }

    pub fn undefined<'a>(&self, paths: impl Iterator<Item = &'a VarPath>) -> Vec<String> {
        let mut names: Vec<String> = paths
            .filter(|p| !p.is_optional() && self.get(p).is_none())
            .map(ToString::to_string)
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

/// A value does not fit its placeholder.
pub(crate) fn unfit(error: FillError) -> Failure {
    value_failure(format!("{{{{{}}}}}: {}", error.path, error.message))
}

pub(crate) fn value_failure(message: String) -> Failure {
    Failure::new(FailureKind::Value, message)
}

/// The variables that a value is made from.
pub(crate) fn paths_read(value: &ValueTemplate) -> Vec<&VarPath> {
    match value {
        ValueTemplate::Plain(_) => Vec::new(),
        ValueTemplate::Text(text) => text.placeholders().map(|p| &p.path).collect(),
        ValueTemplate::List(items) => items.iter().flat_map(paths_read).collect(),
        ValueTemplate::Map(items) => items.iter().flat_map(|(_, v)| paths_read(v)).collect(),
    }
}

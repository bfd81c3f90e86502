//! A recipe's context before it has run: which variables have a value now, and which get theirs from
//! steps that have not run. What may or may not be set counts as not known.

use crate::frame::is_or_is_in;
use crate::scope::paths_read;
use crate::step_result::StatusName;
use serde_json::json;
use std::collections::BTreeSet;
use towpath_core::{Map, Value, VarPath, lookup};
use towpath_recipe::condition::{Condition, EvalError};
use towpath_recipe::{Recipe, ValueTemplate};

const STEPS: &str = "steps";

#[derive(Debug, Clone, Default)]
pub(super) struct ForeseenContext {
    known: Map,
    /// Names, and below `steps` also dotted paths.
    unknown: BTreeSet<String>,
    /// A key `steps` of the user's own replaces ours.
    own_steps: bool,
}

/// What a path leads to.
pub(super) enum Sight<'a> {
    Known(Option<&'a Value>),
    Unknown,
}

impl ForeseenContext {
    pub fn of_inputs(inputs: &Map) -> ForeseenContext {
        ForeseenContext { known: inputs.clone(), ..ForeseenContext::default() }
    }

    /// The context of a recipe that is called with these variables.
    pub fn of_recipe(recipe: &Recipe, given: ForeseenContext) -> ForeseenContext {
        let mut known = recipe.context.clone();
        let own = |name: &str| given.known.contains_key(name) || given.unknown.contains(name);
        let own_steps = own(STEPS) || known.contains_key(STEPS) || recipe.machine().is_some();
        for name in &given.unknown {
            known.shift_remove(name);
        }
        known.extend(given.known);
        ForeseenContext { known, unknown: given.unknown, own_steps }
    }

    /// What a called recipe may see: without our own `steps`.
    pub fn for_callee(&self) -> ForeseenContext {
        let mut given = self.clone();
        if !self.own_steps {
            given.known.shift_remove(STEPS);
            given.unknown.retain(|name| !is_or_is_in(name, STEPS));
        }
        given
    }

    pub fn forget(&mut self, name: &str) {
        self.known.shift_remove(name);
        self.unknown.insert(name.to_owned());
    }

    pub fn set(&mut self, name: &str, value: Value) {
        self.unknown.remove(name);
        self.known.insert(name.to_owned(), value);
    }

    /// Sets the status in `steps.ID`; none where it is not known.
    pub fn note(&mut self, id: &str, status: Option<StatusName>) {
        if self.own_steps || self.unknown.contains(STEPS) {
            return;
        }
        let entry = self.known.entry(STEPS).or_insert_with(|| json!({}));
        let Value::Object(steps) = entry else { return };
        let Some(status) = status else {
            self.unknown.insert(format!("{STEPS}.{id}"));
            return;
        };
        steps.insert(id.to_owned(), json!({ "status": status.as_str(), "exit_code": null }));
        if status != StatusName::Skipped {
            self.unknown.insert(format!("{STEPS}.{id}.exit_code"));
        }
    }

    /// Required variables that will certainly have no value.
    pub fn missing<'a>(&self, required: &'a [String]) -> Vec<&'a str> {
        let mut missing = towpath_recipe::missing(required, &self.known);
        missing.retain(|name| !self.unknown.contains(*name));
        missing
    }

    pub fn foresee(&self, condition: &Condition) -> Result<Option<bool>, EvalError> {
        condition.foresee(&self.known, &|path| self.is_unknown(path))
    }

    pub fn is_unknown(&self, path: &VarPath) -> bool {
        let text = path.as_str();
        if self.unknown.contains(text) || self.has_unknown_parts(text) {
            return true;
        }
        if self.known.contains_key(text) {
            return false;
        }
        text.match_indices('.').any(|(at, _)| self.unknown.contains(&text[..at]))
    }

    fn has_unknown_parts(&self, name: &str) -> bool {
        let below = format!("{name}.");
        self.unknown.range(below.clone()..).next().is_some_and(|first| first.starts_with(&below))
    }

    pub fn see(&self, path: &VarPath) -> Sight<'_> {
        match self.is_unknown(path) {
            true => Sight::Unknown,
            false => Sight::Known(lookup(&self.known, path)),
        }
    }

    /// The variables of one step, or those passed to the recipe it calls, in front of this.
    pub fn values(&self, context: &[(String, ValueTemplate)]) -> Values<'_> {
        let mut extra = Values { known: Map::new(), unknown: BTreeSet::new(), behind: self };
        for (name, value) in context {
            if paths_read(value).into_iter().any(|path| self.is_unknown(path)) {
                extra.unknown.insert(name.clone());
            } else {
                extra.known.insert(name.clone(), value.render(&self.known));
            }
        }
        extra
    }
}

/// Variables in front of a context.
pub(super) struct Values<'a> {
    known: Map,
    unknown: BTreeSet<String>,
    behind: &'a ForeseenContext,
}

impl Values<'_> {
    pub fn see(&self, path: &VarPath) -> Sight<'_> {
        if self.unknown.contains(path.root()) {
            return Sight::Unknown;
        }
        match lookup(&self.known, path) {
            Some(value) => Sight::Known(Some(value)),
            None => self.behind.see(path),
        }
    }

    pub fn over(self, mut given: ForeseenContext) -> ForeseenContext {
        for name in &self.unknown {
            given.forget(name);
        }
        for (name, value) in self.known {
            given.set(&name, value);
        }
        given
    }
}

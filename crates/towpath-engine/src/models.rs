//! What the name of a model means to the backend of a run. A name that is not listed is passed as it
//! is; one that the backend has nothing for is left out, with one warning.

use std::collections::{BTreeMap, BTreeSet};
use towpath_agent::{BackendRow, WithoutModel};

/// Names, and what a call is given for them; `None`: nothing.
#[derive(Debug, Clone, Default)]
pub struct Models {
    names: BTreeMap<String, Option<String>>,
    /// What a call is given that names none.
    own: Option<String>,
    told: BTreeSet<String>,
}

/// What a call is given, and what is to be said about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub model: Option<String>,
    pub warning: Option<String>,
}

impl Models {
    /// With the model of calls that name none, where a person has said it.
    pub fn with_own(self, own: Option<String>) -> Models {
        Models { own, ..self }
    }

    pub(crate) fn own(&self) -> Choice {
        Choice { model: self.own.clone(), warning: None }
    }

    /// For a call that names none in a session that was given a model before.
    pub(crate) fn own_again(&mut self, row: &BackendRow) -> Choice {
        let kept = row.can.without_model;
        match (&self.own, kept) {
            (Some(_), _) | (None, WithoutModel::Own) => self.own(),
            (None, WithoutModel::Named(name)) => {
                Choice { model: Some(name.to_owned()), warning: None }
            }
            (None, WithoutModel::Kept) => {
                let backend = row.id;
                let warning = format!(
                    "{backend} goes on with the model of an earlier step, since this one names \
                     none; the setting models.{backend}.default names one for such steps"
                );
                let new = self.told.insert(String::new());
                Choice { model: None, warning: new.then_some(warning) }
            }
        }
    }

    pub(crate) fn choose(&mut self, backend: &str, name: String) -> Choice {
        match self.names.get(&name) {
            None => Choice { model: Some(name), warning: None },
            Some(Some(model)) => Choice { model: Some(model.clone()), warning: None },
            Some(None) => {
                let warning = format!(
                    "no model of {backend} is known for `{name}`: it takes its own; the setting \
                     models.{backend}.{name} names one"
                );
                let new = self.told.insert(name);
                Choice { model: None, warning: new.then_some(warning) }
            }
        }
    }
}

impl FromIterator<(String, Option<String>)> for Models {
    fn from_iter<I: IntoIterator<Item = (String, Option<String>)>>(names: I) -> Models {
        Models { names: names.into_iter().collect(), ..Models::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_mapped_passed_or_left_out_with_one_warning() {
        let names = [("haiku", Some("small-1")), ("opus", None)];
        let names = names.map(|(name, model)| (name.to_owned(), model.map(str::to_owned)));
        let mut models: Models = names.into_iter().collect();
        let mut given = |name: &str| {
            let choice = models.choose("codex", name.to_owned());
            (choice.model, choice.warning.is_some())
        };
        assert_eq!(given("haiku"), (Some("small-1".into()), false));
        assert_eq!(given("gpt-9"), (Some("gpt-9".into()), false));
        assert_eq!(given("opus"), (None, true));
        assert_eq!(given("opus"), (None, false));
        let mut models: Models = [("opus".to_owned(), None)].into_iter().collect();
        let said = models.choose("codex", "opus".into()).warning.unwrap();
        assert!(said.ends_with("the setting models.codex.opus names one"), "{said}");
    }

    #[test]
    fn a_call_without_a_model_gets_the_programs_own_also_after_one_with_a_model() {
        let row = |id: &str| towpath_agent::backend_row(id).unwrap();
        let mut models = Models::default();
        let mut again = |id: &str| {
            let choice = models.own_again(row(id));
            (choice.model, choice.warning)
        };
        assert_eq!(again("claude-code"), (Some("default".into()), None));
        assert_eq!(again("codex"), (None, None));
        let (model, warning) = again("opencode");
        assert!(model.is_none() && warning.is_some_and(|w| w.contains("models.opencode.default")));
        assert_eq!(again("opencode"), (None, None), "it is told once");
        let mut models = Models::default().with_own(Some("big".into()));
        assert_eq!(models.own().model.as_deref(), Some("big"));
        assert_eq!(models.own_again(row("opencode")).model.as_deref(), Some("big"));
        assert_eq!(models.choose("codex", "small".into()).model.as_deref(), Some("small"));
    }
}

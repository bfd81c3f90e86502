//! What the name of a model means to the backend of a run. A name that is not listed is passed as it
//! is; one that the backend has nothing for is left out, with one warning.

use std::collections::{BTreeMap, BTreeSet};
use towpath_executor::{BackendRow, WithoutModel};

/// The setting for calls that name no model.
const OWN: &str = "default";

/// Names, and what a call is given for them; `None`: nothing.
#[derive(Debug, Clone, Default)]
pub struct Models {
    names: BTreeMap<String, Option<String>>,
    /// What a call is given that names none.
    own: Option<String>,
    warned: BTreeSet<String>,
}

/// What a call is given, and what is to be reported about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub model: Option<String>,
    pub warning: Option<String>,
}

impl Models {
    /// With the model of calls that name none, where the user has set one.
    pub fn with_own(self, own: Option<String>) -> Models {
        Models { own, ..self }
    }

    /// What a call is given in a session whose earlier calls named these models.
    pub(crate) fn choose(
        &mut self,
        row: &BackendRow,
        name: Option<String>,
        before: &[String],
    ) -> Choice {
        if let Some(model) = name.as_ref().and_then(|name| self.passed(name)) {
            return Choice { model: Some(model), warning: None };
        }
        let kept = before.iter().any(|name| self.passed(name).is_some());
        let (model, keeps) = match (&self.own, kept, row.can.without_model) {
            (Some(own), ..) => (Some(own.clone()), false),
            (None, true, WithoutModel::Named(own)) => (Some(own.to_owned()), false),
            (None, true, WithoutModel::Kept) => (None, true),
            (None, ..) => (None, false),
        };
        let backend = row.id;
        let takes = if keeps { "it keeps that of an earlier step" } else { "it takes its own" };
        let (key, setting) = match name {
            Some(name) => (Some(format!("no model of {backend} is known for `{name}`")), name),
            None if keeps => (Some(format!("a step of {backend} names no model")), OWN.to_owned()),
            None => (None, OWN.to_owned()),
        };
        let warning = key.map(|what| {
            format!("{what}: {takes}; the setting models.{backend}.{setting} names one")
        });
        let new = self.warned.insert(setting) && warning.is_some();
        Choice { model, warning: warning.filter(|_| new) }
    }

    /// What a call is given for a name; nothing for a tier that the backend has no model for.
    fn passed(&self, name: &str) -> Option<String> {
        self.names.get(name).map_or_else(|| Some(name.to_owned()), Clone::clone)
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

    fn row(id: &str) -> &'static BackendRow {
        towpath_executor::backend_row(id).unwrap()
    }

    fn models() -> Models {
        let names = [("haiku", Some("small-1")), ("opus", None)];
        names.map(|(name, model)| (name.to_owned(), model.map(str::to_owned))).into_iter().collect()
    }

    #[test]
    fn a_name_is_mapped_passed_or_left_out_with_one_warning() {
        let mut models = models();
        let mut given = |name: &str| {
            let choice = models.choose(row("codex"), Some(name.to_owned()), &[]);
            (choice.model, choice.warning)
        };
        assert_eq!(given("haiku"), (Some("small-1".into()), None));
        assert_eq!(given("gpt-9"), (Some("gpt-9".into()), None));
        let warning = "no model of codex is known for `opus`: it takes its own; the setting \
                    models.codex.opus names one";
        assert_eq!(given("opus"), (None, Some(warning.to_owned())));
        assert_eq!(given("opus"), (None, None));
    }

    #[test]
    fn a_call_without_a_model_gets_the_programs_own_also_after_one_with_a_model() {
        let again = |id: &str, name: Option<&str>, before: &[&str], own: Option<&str>| {
            let mut models = models().with_own(own.map(str::to_owned));
            let before: Vec<String> = before.iter().map(|name| (*name).to_owned()).collect();
            let choice = models.choose(row(id), name.map(str::to_owned), &before);
            let warning = choice.warning.map_or("", |warning| match warning.contains("keeps") {
                true => "keeps",
                false => "own",
            });
            (choice.model.unwrap_or_default(), warning)
        };
        let own = |model: &str| (model.to_owned(), "");
        assert_eq!(again("claude-code", None, &["haiku"], None), own("default"));
        assert_eq!(again("claude-code", None, &[], None), own(""));
        assert_eq!(again("codex", None, &["haiku"], None), own(""));
        assert_eq!(again("opencode", None, &["haiku"], None), (String::new(), "keeps"));
        assert_eq!(again("opencode", Some("opus"), &["haiku"], None), (String::new(), "keeps"));
        assert_eq!(again("opencode", Some("opus"), &["haiku"], Some("big")), ("big".into(), "own"));
        // A tier that was left out has given the session no model to keep.
        assert_eq!(again("opencode", None, &["opus"], None), own(""));
        assert_eq!(again("opencode", None, &["opus"], Some("big")), own("big"));
    }
}

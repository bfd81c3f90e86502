//! What the name of a model means to the backend of a run. A name that is not listed is passed as it
//! is; one that the backend has nothing for is left out, with one warning.

use std::collections::{BTreeMap, BTreeSet};

/// Names, and what a call is given for them; `None`: nothing.
#[derive(Debug, Clone, Default)]
pub struct Models {
    names: BTreeMap<String, Option<String>>,
    told: BTreeSet<String>,
}

/// What a call is given, and what is to be said about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub model: Option<String>,
    pub warning: Option<String>,
}

impl Models {
    pub(crate) fn choose(&mut self, backend: &str, name: Option<String>) -> Choice {
        let Some(name) = name else { return Choice { model: None, warning: None } };
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
        Models { names: names.into_iter().collect(), told: BTreeSet::new() }
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
        let mut given = |name: Option<&str>| {
            let choice = models.choose("codex", name.map(str::to_owned));
            (choice.model, choice.warning.is_some())
        };
        assert_eq!(given(None), (None, false));
        assert_eq!(given(Some("haiku")), (Some("small-1".into()), false));
        assert_eq!(given(Some("gpt-9")), (Some("gpt-9".into()), false));
        assert_eq!(given(Some("opus")), (None, true));
        assert_eq!(given(Some("opus")), (None, false));
        let mut models: Models = [("opus".to_owned(), None)].into_iter().collect();
        let said = models.choose("codex", Some("opus".into())).warning.unwrap();
        assert!(said.ends_with("the setting models.codex.opus names one"), "{said}");
    }
}

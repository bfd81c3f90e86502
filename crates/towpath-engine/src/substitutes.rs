//! What runs instead of a bash step's own command, for whoever tries a recipe without its effects.
//! A substitute is plain bash text: no placeholders are filled in it. Hooks and agent calls have none,
//! and which steps run is decided as ever.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use towpath_core::{JobKey, JobKind};

/// Bash text by a step's path without visits, or by its id. The path wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Substitutes(BTreeMap<String, String>);

impl Substitutes {
    pub(crate) fn of(&self, job: &JobKey) -> Option<&str> {
        if self.0.is_empty() || job.kind != JobKind::Bash {
            return None;
        }
        let path = job.step_path().without_visits();
        self.0.get(&path).or_else(|| self.0.get(&job.step)).map(String::as_str)
    }
}

impl FromIterator<(String, String)> for Substitutes {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(texts: I) -> Substitutes {
        Substitutes(texts.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_wins_over_an_id_and_hooks_have_none() {
        let texts = [("ci/build", "path"), ("build", "id")];
        let substitutes: Substitutes =
            texts.into_iter().map(|(step, text)| (step.to_owned(), text.to_owned())).collect();
        let of = |key: &str| substitutes.of(&key.parse().unwrap());
        assert_eq!(of("build#1.0.0:bash"), Some("id"));
        assert_eq!(of("ci#2/build#3.1.0:bash"), Some("path"));
        assert_eq!(of("other/build#1.0.0:bash"), Some("id"));
        assert_eq!(of("build#1.0.0:pre_step"), None);
        assert_eq!(of("rebuild#1.0.0:bash"), None);
    }
}

//! The rules that apply in a directory: the user's, and those of its project once they are trusted.
//! What `rules test` shows is decided here, by what hooks use too.

use super::project_rules::{ProjectRules, RULES_FILE};
use super::resolved::with_resolved_directories;
use super::rule_book::user_rules;
use crate::{Correction, Error, Rule, RuleIndex, ToolCall, correct, merge, now_ms};
use std::path::Path;
use towpath_store::{Pause, Store};

#[derive(Debug, Default)]
pub struct ActiveRules {
    /// All of the user's, the disabled ones too.
    pub user: Vec<Rule>,
    /// The project's file, trusted or not.
    pub project: Option<ProjectRules>,
    /// What corrects calls here.
    pub rules: Vec<Rule>,
    /// Corrections are paused now.
    pub pause: Option<Pause>,
}

impl ActiveRules {
    /// The rules in a project with this root, or in a directory of none.
    pub fn read(store: Option<&Store>, root: &Path) -> Result<ActiveRules, Error> {
        let user = store.map_or(Ok(Vec::new()), user_rules)?;
        let project = ProjectRules::of_file(store, &root.join(RULES_FILE))?;
        let usable = project.iter().flat_map(ProjectRules::usable).cloned().collect();
        let rules = with_resolved_directories(merge(user.clone(), usable));
        Ok(ActiveRules { user, project, rules, pause: store.map_or(Ok(None), pause)? })
    }

    /// What becomes of a call, were corrections not paused.
    pub fn correct(&self, call: &ToolCall) -> Correction {
        correct(call, &RuleIndex::new(self.rules.clone()))
    }

    /// The user's rules, then the project's, those that are not used too.
    pub fn all(&self) -> impl Iterator<Item = &Rule> {
        self.user.iter().chain(self.project.iter().flat_map(|project| &project.rules))
    }

    /// A rule by its number, of the user or of this project.
    pub fn rule(&self, number: u64) -> Option<&Rule> {
        self.all().find(|rule| rule.number == number && number > 0)
    }
}

/// The pause, if it has not ended.
pub fn pause(store: &Store) -> Result<Option<Pause>, Error> {
    let now = now_ms();
    let pause = store.pause()?;
    Ok(pause.filter(|pause| pause.until_ms.is_none_or(|until| until > now)))
}

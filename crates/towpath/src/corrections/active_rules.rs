//! The rules that apply in a directory: the user's, and those of its project once they are trusted.
//! What `rules test` shows is decided here, by what hooks use too.

use super::canonical_rule_directories::with_resolved_directories;
use super::hooks_directory::HooksDirectory;
use super::hosts_ignoring_rewrites;
use super::project_rules::ProjectRules;
use super::user_rules_in_journal::user_rules;
use crate::environment::Environment;
use crate::exit_codes_and_errors::CommandError;
use crate::settings::Settings;
use crate::terminal::format::now_ms;
use std::path::Path;
use towpath_corrections::host::{AnswerOptions, Decision, Host};
use towpath_corrections::{Correction, Rule, RuleIndex, ToolCall, correct, merge};
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
    pub fn read(
        env: &Environment,
        store: Option<&Store>,
        directory: &Path,
    ) -> Result<ActiveRules, CommandError> {
        let user = store.map_or(Ok(Vec::new()), user_rules)?;
        let project = ProjectRules::of_directory(env, store, directory)?;
        let usable = project.iter().flat_map(ProjectRules::usable).cloned().collect();
        let rules = with_resolved_directories(merge(user.clone(), usable, &[]));
        Ok(ActiveRules { user, project, rules, pause: store.map_or(Ok(None), pause)? })
    }

    /// What becomes of a call, were corrections not paused.
    pub fn correct(&self, call: &ToolCall) -> Correction {
        correct(call, &RuleIndex::new(self.rules.clone()))
    }

    /// What a host is answered by the user's settings.
    pub fn decide(
        &self,
        env: &Environment,
        correction: &Correction,
        host: Host,
    ) -> Result<Decision, CommandError> {
        let settings = Settings::read(env, None)?;
        let options = AnswerOptions {
            permission: settings.permission.value,
            mode: settings.mode.value,
            drops_rewrites: hosts_ignoring_rewrites::all(&HooksDirectory::of(
                &env.directories.state,
            ))
            .iter()
            .any(|state| state.host == host && state.drops_rewrites()),
        };
        Ok(host.decide(None, correction, &options))
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
pub fn pause(store: &Store) -> Result<Option<Pause>, CommandError> {
    let now = now_ms();
    let pause = store.pause()?;
    Ok(pause.filter(|pause| pause.until_ms.is_none_or(|until| until > now)))
}

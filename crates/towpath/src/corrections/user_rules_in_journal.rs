//! All rules of a user, in the journal. A rule is a row with its key and its body as JSON; what is
//! the user's own about it (number, enabled, hits) are columns. Every change removes the hooks'
//! snapshot first.

use super::rule_change_lock::RuleChange;
use crate::environment::Environment;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::format::{now_ms, rfc3339};
use std::path::{Path, PathBuf};
use towpath_corrections::{NewRule, Rule, RuleKey, Scope};
use towpath_store::{Pause, SetRule, Store, StoredRule};

/// The rules, open for changes.
#[derive(Debug)]
pub struct RuleBook {
    store: Store,
    /// The state directory whose hooks use these rules.
    state: Option<PathBuf>,
}

impl RuleBook {
    pub fn open(env: &Environment) -> Result<RuleBook, CommandError> {
        let state = env.directories.state.clone();
        Ok(RuleBook { store: Store::open(&state)?, state: Some(state) })
    }

    /// The rules in another journal, which no hook of ours reads by itself.
    pub fn in_file(path: &Path) -> Result<RuleBook, CommandError> {
        Ok(RuleBook { store: Store::open_file(path)?, state: None })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Changes what hooks decide by. They see all of the change, or nothing of it.
    pub fn change<T>(
        &mut self,
        work: impl FnOnce(&mut Store) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let _change = self.state.as_deref().map(RuleChange::begin).transpose()?;
        work(&mut self.store)
    }

    /// By number.
    pub fn rules(&self) -> Result<Vec<Rule>, CommandError> {
        user_rules(&self.store)
    }

    /// Adds rules that were checked; the same key again replaces. The numbers that they have are
    /// ignored.
    pub fn set(&mut self, rules: &[Rule]) -> Result<Vec<SetRule>, CommandError> {
        let rows: Vec<(String, String)> =
            rules.iter().map(|r| (key_text(&r.key()), body(r))).collect();
        self.change(|store| {
            let set = store.rules_set(&rows, now_ms())?;
            for (_, set) in rules.iter().zip(&set).filter(|(rule, _)| !rule.enabled) {
                store.rule_enable(set.number(), false)?;
            }
            Ok(set)
        })
    }

    /// Whether the user has such a rule.
    pub fn remove(&mut self, number: u64) -> Result<bool, CommandError> {
        self.change(|store| Ok(store.rule_remove(row_number(number))?))
    }

    /// Whether the user or a project has such a rule.
    pub fn has(&self, number: u64) -> Result<bool, CommandError> {
        Ok(self.store.has_rule(row_number(number))?)
    }

    /// Enables or disables a rule of the user, or one of a project for this user. Whether there is
    /// one.
    pub fn enable(&mut self, number: u64, enabled: bool) -> Result<bool, CommandError> {
        self.change(|store| Ok(store.rule_enable(row_number(number), enabled)?))
    }

    pub fn set_pause(&mut self, pause: Option<Pause>) -> Result<(), CommandError> {
        self.change(|store| Ok(store.set_pause(pause)?))
    }
}

/// The rules of the user, by number.
pub fn user_rules(store: &Store) -> Result<Vec<Rule>, CommandError> {
    store.rules()?.into_iter().map(rule).collect()
}

/// How a key is written in the journal.
pub fn key_text(key: &RuleKey) -> String {
    serde_json::to_string(key).expect("a key is strings")
}

fn body(rule: &Rule) -> String {
    let (kind, message) = (rule.kind.clone(), rule.message.clone());
    let body = NewRule { kind, message, directory: rule.directory.clone() };
    serde_json::to_string(&body).expect("a rule is strings and numbers")
}

fn rule(row: StoredRule) -> Result<Rule, CommandError> {
    let body: NewRule = serde_json::from_str(&row.body).map_err(|error| {
        let message = format!("rule {} in the journal cannot be read: {error}", row.number);
        CommandError::new(Exit::Setup, ErrorKind::State, message)
    })?;
    Ok(Rule {
        number: row.number.unsigned_abs(),
        kind: body.kind,
        message: body.message,
        enabled: row.enabled,
        directory: body.directory,
        scope: Scope::User,
        created_at: rfc3339(row.created_ms),
        hits: row.hits,
    })
}

/// A number of a rule in the journal; there is none that is too great for it.
fn row_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use towpath_corrections::RuleKind;

    fn recipe(timeout: Option<u64>) -> Rule {
        let kind = RuleKind::Recipe {
            from: "gt wait".into(),
            to: "sleep 1\necho \"{{.Arg 1}}\"".into(),
            template: true,
            timeout,
        };
        let new = NewRule { kind, message: Some("Poll".into()), directory: Some("/shop".into()) };
        new.check(0, String::new(), false).expect("a good rule")
    }

    #[test]
    fn a_rule_comes_back_as_it_was_set() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("other.db");
        let mut book = RuleBook::in_file(&path).expect("a book");
        let off = Rule { enabled: false, ..recipe(Some(600)) };
        assert_eq!(book.set(std::slice::from_ref(&off)).expect("set"), [SetRule::Added(1)]);
        let found = book.rules().expect("rules").remove(0);
        assert_ne!(found.created_at, "");
        assert_eq!(found, Rule { number: 1, created_at: found.created_at.clone(), ..off });
        assert_eq!(book.set(&[recipe(None)]).expect("set"), [SetRule::Replaced(1)]);
        assert_eq!(book.rules().expect("rules")[0].kind, recipe(None).kind);
        assert!(book.rules().expect("rules")[0].enabled);
        assert!(book.remove(1).expect("removed") && !book.remove(u64::MAX).expect("none"));
    }
}

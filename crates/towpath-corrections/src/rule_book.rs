//! All rules of a user, in the journal. A rule is a row with its key and its body as JSON; what is
//! the user's own about it (number, enabled, hits) are columns. Every change removes the hooks'
//! snapshot first.

use super::hook_rules::SNAPSHOT;
use super::hooks_directory::HooksDirectory;
use crate::{Error, NewRule, Rule, RuleKey, Scope, now_ms};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use towpath_store::{Pause, SetRule, Store, StoredRule};

/// The rules, open for changes.
#[derive(Debug)]
pub struct RuleBook {
    store: Store,
    /// The state directory whose hooks use these rules.
    state: Option<PathBuf>,
}

impl RuleBook {
    pub fn open(state: &Path) -> Result<RuleBook, Error> {
        Ok(RuleBook { store: Store::open(state)?, state: Some(state.to_owned()) })
    }

    /// The rules in another journal, which no hook of ours reads by itself.
    pub fn in_file(path: &Path) -> Result<RuleBook, Error> {
        Ok(RuleBook { store: Store::open_file(path)?, state: None })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Changes what hooks decide by. They see all of the change, or nothing of it.
    pub fn change<T, E: From<Error>>(
        &mut self,
        work: impl FnOnce(&mut Store) -> Result<T, E>,
    ) -> Result<T, E> {
        let _change = self.state.as_deref().map(RuleChange::begin).transpose()?;
        work(&mut self.store)
    }

    /// By number.
    pub fn rules(&self) -> Result<Vec<Rule>, Error> {
        user_rules(&self.store)
    }

    /// Adds rules that were checked; the same key again replaces. The numbers that they have are
    /// ignored.
    pub fn set(&mut self, rules: &[Rule]) -> Result<Vec<SetRule>, Error> {
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
    pub fn remove(&mut self, number: u64) -> Result<bool, Error> {
        self.change(|store| store.rule_remove(row_number(number)).map_err(Error::from))
    }

    /// Whether the user or a project has such a rule.
    pub fn has(&self, number: u64) -> Result<bool, Error> {
        Ok(self.store.has_rule(row_number(number))?)
    }

    /// Enables or disables a rule of the user, or one of a project for this user. Whether there is
    /// one.
    pub fn enable(&mut self, number: u64, enabled: bool) -> Result<bool, Error> {
        self.change(|store| store.rule_enable(row_number(number), enabled).map_err(Error::from))
    }

    pub fn set_pause(&mut self, pause: Option<Pause>) -> Result<(), Error> {
        self.change(|store| store.set_pause(pause).map_err(Error::from))
    }
}

/// Locked while rules are changed or a snapshot of them is written.
pub(crate) const LOCK: &str = "rules.lock";

/// A change of the rules, of the trust in a project's file, or of the pause. While it exists, no
/// other process makes one, and none writes a snapshot.
#[derive(Debug)]
struct RuleChange {
    _lock: File,
}

impl RuleChange {
    /// The snapshot is removed first, so that no hook reads old rules.
    fn begin(state: &Path) -> Result<RuleChange, Error> {
        let directory = HooksDirectory::of(state);
        let path = directory.file(LOCK);
        let lock = directory.append(LOCK).map_err(Error::file(&path))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| Error::file(&path)(io::Error::from(error)))?;
        let snapshot = directory.file(SNAPSHOT);
        match std::fs::remove_file(&snapshot) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file(&snapshot)(error)),
            _ => Ok(RuleChange { _lock: lock }),
        }
    }
}

/// The rules of the user, by number.
pub fn user_rules(store: &Store) -> Result<Vec<Rule>, Error> {
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

fn rule(row: StoredRule) -> Result<Rule, Error> {
    let body: NewRule = serde_json::from_str(&row.body).map_err(|error| {
        let message = format!("rule {} in the journal cannot be read: {error}", row.number);
        Error::State(message)
    })?;
    Ok(Rule {
        number: row.number.unsigned_abs(),
        kind: body.kind,
        message: body.message,
        enabled: row.enabled,
        directory: body.directory,
        scope: Scope::User,
        created_ms: row.created_ms,
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
    use crate::RuleKind;

    fn recipe(timeout: Option<u64>) -> Rule {
        let kind = RuleKind::Recipe {
            from: "gt wait".into(),
            to: "sleep 1\necho \"{{.Arg 1}}\"".into(),
            template: true,
            timeout,
        };
        let new = NewRule { kind, message: Some("Poll".into()), directory: Some("/shop".into()) };
        new.check(0, false).expect("a good rule")
    }

    #[test]
    fn a_rule_comes_back_as_it_was_set() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("other.db");
        let mut book = RuleBook::in_file(&path).expect("a book");
        let off = Rule { enabled: false, ..recipe(Some(600)) };
        assert_eq!(book.set(std::slice::from_ref(&off)).expect("set"), [SetRule::Added(1)]);
        let found = book.rules().expect("rules").remove(0);
        assert_ne!(found.created_ms, 0);
        assert_eq!(found, Rule { number: 1, created_ms: found.created_ms, ..off });
        assert_eq!(book.set(&[recipe(None)]).expect("set"), [SetRule::Replaced(1)]);
        assert_eq!(book.rules().expect("rules")[0].kind, recipe(None).kind);
        assert!(book.rules().expect("rules")[0].enabled);
        assert!(book.remove(1).expect("removed") && !book.remove(u64::MAX).expect("none"));
    }
}

//! The rules of a project, in `.towpath/rules.toml`: found, read, compared with what the user has
//! trusted. They are used only while the file is what the user has seen; a rule that the user has
//! disabled stays out. Nothing here asks, and nothing here writes the file.

use super::rule_book::{RuleBook, key_text};
use crate::{Error, Rule, RulesFormat, Scope, now_ms, read_rules};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use towpath_core::files::read_text;
use towpath_core::{Diagnostic, Source};
use towpath_store::{PlanHash, ProjectRuleRow, Store, TrustRecord};

/// Below the root of a project.
pub const RULES_FILE: &str = ".towpath/rules.toml";

/// No file of rules that a team writes is larger.
const MOST_RULES: u64 = 1 << 20;

/// A project's file of rules, as it is now.
#[derive(Debug)]
pub struct ProjectRules {
    /// The file, without links.
    pub path: PathBuf,
    pub text: String,
    pub hash: PlanHash,
    pub trust: FileTrust,
    /// All of its rules. The number of one that has none yet is 0.
    pub rules: Vec<Rule>,
    /// What is wrong with the file; then it has no rules.
    pub problems: Vec<Diagnostic>,
}

/// Whether the user has agreed to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileTrust {
    Trusted,
    /// Another version of it was trusted.
    Changed,
    New,
}

impl ProjectRules {
    /// `None`: there is no such file.
    pub fn of_file(store: Option<&Store>, path: &Path) -> Result<Option<ProjectRules>, Error> {
        let read = path.canonicalize().and_then(|real| read_file(&real).map(|text| (real, text)));
        match read {
            Ok((path, text)) => ProjectRules::of_text(store, path, text).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(path)(error)),
        }
    }

    fn of_text(store: Option<&Store>, path: PathBuf, text: String) -> Result<ProjectRules, Error> {
        let hash = hash(&text);
        let (trust, known) = match store {
            Some(store) => (trust_in(store, &path, &hash)?, store.project_rules(&path)?),
            None => (FileTrust::New, Vec::new()),
        };
        let source = Source::new(path.display().to_string(), text.as_str());
        let (rules, problems) = match read_rules(&source, RulesFormat::Toml) {
            Ok(file) => (file.rules, Vec::new()),
            Err(problems) => (Vec::new(), problems),
        };
        let known = known.into_iter().map(|row| (row.key.clone(), row)).collect();
        let root = root_of(&path);
        let own = |rule: Rule| with_row(Rule { scope: Scope::Project, ..rule }, &root, &known);
        let rules = rules.into_iter().map(|rule| own(rule.into_rule())).collect();
        Ok(ProjectRules { path, text, hash, trust, rules, problems })
    }

    /// The rules that are used: none before the user has trusted the file.
    pub fn usable(&self) -> impl Iterator<Item = &Rule> {
        let trusted = self.trust == FileTrust::Trusted;
        self.rules.iter().filter(move |rule| trusted && rule.enabled)
    }

    /// Records the user's consent to what the file contains now.
    pub fn record_trust(&self, book: &mut RuleBook) -> Result<(), Error> {
        let s = if self.rules.len() == 1 { "" } else { "s" };
        let what = format!("{} correction rule{s}", self.rules.len());
        let record =
            TrustRecord { path: self.path.clone(), hash: self.hash, at_ms: now_ms(), what };
        book.change(|store| store.trust_add(&record).map_err(Error::from))?;
        self.number(book)
    }

    /// Gives the rules of a trusted file numbers, where they have none.
    pub fn number(&self, book: &mut RuleBook) -> Result<(), Error> {
        let keys: Vec<String> = self.rules.iter().map(|rule| key_text(&rule.key())).collect();
        let number = |store: &mut Store| store.project_rule_numbers(&self.path, &keys, now_ms());
        book.change(|store| number(store).map(drop).map_err(Error::from))
    }
}

fn read_file(path: &Path) -> io::Result<String> {
    // A pipe or a device in the working tree must not block us.
    match path.metadata()?.is_file() {
        true => read_text(path, MOST_RULES),
        false => Err(io::Error::other("not a regular file")),
    }
}

fn hash(text: &str) -> PlanHash {
    let mut hash = Sha256::new();
    hash.update(b"towpath rules 1\0");
    hash.update(text.as_bytes());
    PlanHash(hash.finalize().into())
}

fn trust_in(store: &Store, path: &Path, hash: &PlanHash) -> Result<FileTrust, Error> {
    if store.trusted_at(path, hash)?.is_some() {
        return Ok(FileTrust::Trusted);
    }
    let known = store.trust_list()?.iter().any(|record| record.path == *path);
    Ok(if known { FileTrust::Changed } else { FileTrust::New })
}

/// The directory that `.towpath` is in.
fn root_of(path: &Path) -> PathBuf {
    path.ancestors().nth(2).unwrap_or(path).to_owned()
}

/// A rule of the file with what is known of it, and with the directory that it means.
fn with_row(rule: Rule, root: &Path, known: &HashMap<String, ProjectRuleRow>) -> Rule {
    let row = known.get(&key_text(&rule.key()));
    let directory = rule.directory.map(|below| root.join(below).display().to_string());
    Rule {
        number: row.map_or(0, |row| row.number.unsigned_abs()),
        enabled: rule.enabled && row.is_none_or(|row| row.enabled),
        hits: row.map_or(0, |row| row.hits),
        directory,
        ..rule
    }
}

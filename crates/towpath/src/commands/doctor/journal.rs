//! The journal: whether it can be read, whether it is undamaged, and who else can read it. It is
//! opened read-only: an older one is not upgraded, a damaged one not repaired.

use super::finding::Finding;
use crate::environment::Environment;
use crate::terminal::format::{bytes, clean, count};
use crate::terminal::shown_path::shown_path;
use std::fs;
use towpath_shell::bash::quote;
use towpath_store::{RunFilter, SCHEMA_VERSION, Store, StoreError};

/// More problems of one kind than this are only counted.
const MOST: usize = 5;

pub struct CheckedJournal {
    /// None where there is no journal yet, or none that can be read.
    pub store: Option<Store>,
    error: Option<StoreError>,
}

pub fn open(env: &Environment) -> CheckedJournal {
    match Store::open_for_reading(&env.directories.state) {
        Ok(store) => CheckedJournal { store, error: None },
        Err(error) => CheckedJournal { store: None, error: Some(error) },
    }
}

impl CheckedJournal {
    /// Whether there is a journal that cannot be read.
    pub fn is_unreadable(&self) -> bool {
        self.error.is_some()
    }

    pub fn check(&self, env: &Environment) -> Vec<Finding> {
        match (&self.error, &self.store) {
            (Some(error), _) => vec![refused(error, env)],
            (None, Some(store)) => contents(store, env),
            (None, None) => vec![missing(env)],
        }
    }
}

/// No journal is right only where nothing has run.
fn missing(env: &Environment) -> Finding {
    let runs = env.directories.state.join("runs");
    let entries = fs::read_dir(&runs).into_iter().flatten().flatten();
    match entries.filter(|entry| entry.path().join("last-fact").exists()).count() {
        0 => Finding::ok("journal", "none yet: nothing has run"),
        found => {
            let text = format!("journal.db is gone, and {} left a directory", count(found, "run"));
            Finding::broken("journal", text, format!("ls {}", quote(&runs.display().to_string())))
        }
    }
}

fn refused(error: &StoreError, env: &Environment) -> Finding {
    let name = "journal";
    let state = quote(&env.directories.state.display().to_string());
    match error {
        StoreError::Newer { found, known, .. } => Finding::broken(
            name,
            format!(
                "written by a newer towpath (schema {found}, this one knows {known}): update \
                 towpath, or use another state directory"
            ),
            "export TOWPATH_HOME=~/towpath",
        ),
        StoreError::Older { found, known, .. } => Finding::attention(
            name,
            format!(
                "schema {found}, this towpath has {known}: the next run upgrades it and keeps a \
                 backup"
            ),
            "towpath run demo",
        ),
        StoreError::Damaged { detail, .. } => {
            Finding::broken(name, format!("damaged: {}", clean(detail)), moved(&state))
        }
        other => Finding::broken(name, clean(&other.to_string()), format!("ls -la {state}")),
    }
}

fn moved(state: &str) -> String {
    format!("mv {state} {state}.damaged")
}

/// The command for a problem. One of a single run is explained by looking at the run.
fn fix(problem: &str, state: &str) -> String {
    let run = problem.strip_prefix("run ").and_then(|rest| rest.split([':', ' ']).next());
    run.map_or_else(|| moved(state), |run| format!("towpath show {run}"))
}

fn contents(store: &Store, env: &Environment) -> Vec<Finding> {
    let state = quote(&env.directories.state.display().to_string());
    let mut findings = Vec::new();
    match store.damage() {
        Ok(problems) => {
            for problem in problems.iter().take(MOST) {
                findings.push(Finding::broken("journal", clean(problem), fix(problem, &state)));
            }
            if problems.len() > MOST {
                let more = format!("and {} more problems", problems.len() - MOST);
                findings.push(Finding::broken("journal", more, moved(&state)));
            }
        }
        Err(error) => findings.push(refused(&error, env)),
    }
    if findings.is_empty() {
        let runs = store.runs(&RunFilter::default()).map_or(0, |runs| runs.len());
        let size = store.pages().map_or(0, |(_, all)| all);
        let (runs, size) = (count(runs, "run"), bytes(size));
        let text = format!("undamaged, schema {SCHEMA_VERSION}, {runs}, {size}");
        findings.push(Finding::ok("journal", text));
    }
    for problem in store.open_to_others() {
        let fix = format!("chmod -R go= {state}");
        let state = shown_path(&env.directories.state, env);
        let text = clean(&problem.replace(&env.directories.state.display().to_string(), &state));
        findings.push(Finding::attention("journal", text, fix));
    }
    findings
}

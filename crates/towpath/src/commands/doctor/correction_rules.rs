//! The correction rules: whether they are paused, and what is wrong with those of this project.

use super::finding::Finding;
use super::journal::CheckedJournal;
use crate::corrections::active_rules;
use crate::corrections::hook::{Switch, VARIABLE, switch};
use crate::environment::Environment;
use crate::terminal::format::{clean, count, local_time, now_ms};
use crate::terminal::shown_path::shown_path;
use towpath_core::Diagnostic;
use towpath_corrections::{FileTrust, ProjectRules};
use towpath_shell::bash::quote;

/// Nothing where there are no rules.
pub fn check(env: &Environment, journal: &CheckedJournal) -> Vec<Finding> {
    let active = match active_rules(env, journal.store.as_ref(), &env.current) {
        Ok(active) => active,
        Err(error) => return vec![Finding::broken("rules", error.message, "towpath rules")],
    };
    let mut findings: Vec<Finding> =
        active.project.iter().filter_map(|project| of_project(env, project)).collect();
    if let Some(pause) = active.pause {
        let until = pause.until_ms.map(|until| format!(" until {}", local_time(until, now_ms())));
        let text = format!("corrections are paused{}", until.unwrap_or_default());
        findings.push(Finding::attention("rules", text, "towpath rules continue"));
    }
    findings.extend(of_variable(env));
    let used = active.rules.iter().filter(|rule| rule.enabled).count();
    if used > 0 {
        findings
            .push(Finding::ok("rules", format!("{} used here", count(used, "correction rule"))));
    }
    findings
}

/// What an agent that is started here gets from this environment.
fn of_variable(env: &Environment) -> Option<Finding> {
    let value = env.get(VARIABLE);
    let text = match switch(value) {
        Switch::On => return None,
        Switch::Off => format!("corrections are off here, by {VARIABLE}"),
        Switch::Unknown(value) => {
            format!("{VARIABLE}={} means nothing, so corrections are on; write off", clean(&value))
        }
    };
    Some(Finding::attention("rules", text, format!("unset {VARIABLE}")))
}

fn of_project(env: &Environment, project: &ProjectRules) -> Option<Finding> {
    let path = shown_path(&project.path, env);
    if let Some(problem) = project.problems.first() {
        let fix = format!("${{EDITOR:-vi}} {}", quote(&project.path.display().to_string()));
        return Some(Finding::broken("project's", format!("{path}{}", described(problem)), fix));
    }
    let why = match project.trust {
        FileTrust::Trusted => return None,
        FileTrust::Changed => "has changed since it was trusted",
        FileTrust::New => "is not trusted",
    };
    let text = format!("{path} {why}: its rules are not used");
    Some(Finding::attention("project's", text, format!("towpath trust {}", quote(&path))))
}

fn described(problem: &Diagnostic) -> String {
    let at = problem.labels.first().map(|label| label.source.line_column(label.span.start));
    let at = at.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
    format!("{at}: {}", problem.message)
}

//! The settings in effect here, where each comes from, and what is wrong with their files.

use super::finding::Finding;
use super::journal::CheckedJournal;
use crate::environment::Environment;
use crate::session::project_settings::read_settings;
use crate::session::trust::{ConsentStatus, ConsentSubject};
use crate::settings::{PROJECT_FILE, Settings, SettingsError, USER_FILE, value_text};
use crate::terminal::shown_path::shown_path;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use towpath_shell::bash::quote;

/// The settings in effect, as far as they can be read, and the findings.
pub fn check(env: &Environment, journal: &CheckedJournal) -> (Settings, Vec<Finding>) {
    let mut findings = Vec::new();
    let user = env.directories.config.join(USER_FILE);
    let own = match Settings::gather(env, None) {
        Ok(settings) => {
            if user.is_file() {
                findings.push(Finding::ok("your file", shown_path(&user, env)));
            }
            settings
        }
        Err(error) => {
            findings.push(broken_file(error, &user, env));
            Settings::default()
        }
    };
    let settings = match project(env, journal, &mut findings) {
        Some((path, contents)) => match Settings::gather(env, Some((&path, &contents))) {
            Ok(settings) => settings,
            // An error in the user's own file is already reported.
            Err(SettingsError::Other(_)) => own,
            Err(error) => {
                findings.push(broken_file(error, &path, env));
                own
            }
        },
        None => own,
    };
    findings.extend(rows(&settings, env));
    (settings, findings)
}

fn broken_file(error: SettingsError, path: &Path, env: &Environment) -> Finding {
    let shown = shown_path(path, env);
    let edit = format!("${{EDITOR:-vi}} {}", quote(&path.display().to_string()));
    match error {
        SettingsError::Other(error) => Finding::broken("settings", error.message, edit),
        SettingsError::Problems(problems) => {
            let described = problems.iter().map(|problem| {
                let at = problem.labels.first().map(|l| l.source.line_column(l.span.start));
                let at = at.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
                format!("{shown}{at}: {}", problem.message)
            });
            Finding::broken("settings", described.collect::<Vec<_>>().join("; "), edit)
        }
    }
}

/// The project's file, if it is trusted.
fn project(
    env: &Environment,
    journal: &CheckedJournal,
    findings: &mut Vec<Finding>,
) -> Option<(PathBuf, String)> {
    let path = env.project_root(&env.current).join(PROJECT_FILE);
    let shown = shown_path(&path, env);
    let text = match read_settings(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => {
            let fix = format!("ls -l {}", quote(&shown));
            findings.push(Finding::broken("project's", format!("{shown}: {error}"), fix));
            return None;
        }
    };
    let subject = ConsentSubject::of_settings(&path, &text);
    match subject.status(journal.store.as_ref()) {
        Ok(ConsentStatus::Trusted) => {
            findings.push(Finding::ok("project's", format!("{shown}, trusted")));
            Some((path, text))
        }
        _ if journal.is_unreadable() => {
            findings.push(Finding::ok("project's", format!("{shown}, not used: {TRUST_UNKNOWN}")));
            None
        }
        _ => {
            let fix = format!("towpath trust {}", subject.argument(env));
            let text = format!("{shown} is not trusted and is not used");
            findings.push(Finding::attention("project's", text, fix));
            None
        }
    }
}

/// Reported where trust depends on a journal that cannot be read.
pub const TRUST_UNKNOWN: &str = "the journal, which records what is trusted, cannot be read";

fn rows(settings: &Settings, env: &Environment) -> Vec<Finding> {
    let row = |(key, value, source): (String, serde_json::Value, String)| {
        let shown = match Path::new(&source).is_absolute() {
            true => shown_path(Path::new(&source), env),
            false => source.clone(),
        };
        let value = value_text(&value);
        Finding::ok(key, format!("{value} ({shown})"))
    };
    settings.rows().into_iter().map(row).collect()
}

//! The recipes that a name can mean here: which cannot be read, and which are not trusted.

use super::finding::Finding;
use super::journal::CheckedJournal;
use super::settings::TRUST_UNKNOWN;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::called_as::CalledAs;
use crate::session::recipe_list::{Entry, entries_in};
use crate::session::trust::trusted_directories;
use crate::terminal::format::{clean, count};
use crate::terminal::shown_path::shown_path;
use towpath_recipe::SearchPath;
use towpath_shell::bash::quote;

/// More of one kind than this are only counted.
const MOST: usize = 8;

pub fn check(
    env: &Environment,
    search: &SearchPath,
    journal: &CheckedJournal,
) -> Result<Vec<Finding>, CommandError> {
    let mut entries = entries_in(&env.current, search, journal.store.as_ref(), CalledAs::Towpath)?;
    // A missing directory is reported with the directories.
    entries.retain(|entry| entry.recipe.path.as_ref().is_none_or(|path| path.exists()));
    let broken: Vec<&Entry> = entries.iter().filter(|e| e.recipe.broken.is_some()).collect();
    let untrusted: Vec<&Entry> =
        entries.iter().filter(|e| e.untrusted && e.recipe.broken.is_none()).collect();
    let mut findings = Vec::new();
    for entry in broken.iter().take(MOST) {
        let path = entry.recipe.path.as_deref().unwrap_or(&env.current);
        let shown = shown_path(path, env);
        let why = clean(entry.recipe.broken.as_deref().unwrap_or_default());
        let fix = match path.is_dir() {
            true => format!("ls -ld {}", quote(&shown)),
            false => format!("towpath validate {}", quote(&shown)),
        };
        // The reason often begins with the path.
        let why = why.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&why);
        findings.push(Finding::broken("recipe", format!("{shown}: {why}"), fix));
    }
    if broken.len() > MOST {
        let more = format!("and {}", count(broken.len() - MOST, "more recipe"));
        findings.push(Finding::broken("recipe", more, "towpath list"));
    }
    if !untrusted.is_empty() && !journal.is_unreadable() {
        let names: Vec<String> = untrusted.iter().map(|e| clean(&e.recipe.name)).collect();
        let text = format!("{} will not run until trusted", listed(&names));
        findings.push(Finding::attention("not trusted", text, "towpath trust"));
    }
    if journal.is_unreadable() && !untrusted.is_empty() {
        findings.push(Finding::ok("trust", format!("unknown: {TRUST_UNKNOWN}")));
    }
    findings.extend(trusted_whole(env, journal)?);
    let sound = entries.len() - broken.len();
    findings.push(Finding::ok(
        "recipes",
        format!("{}, including built-in ones", count(sound, "recipe")),
    ));
    Ok(findings)
}

/// The directories whose recipes run whatever they become.
fn trusted_whole(
    env: &Environment,
    journal: &CheckedJournal,
) -> Result<Vec<Finding>, CommandError> {
    let records =
        journal.store.as_ref().map_or(Ok(Vec::new()), towpath_store::Store::trust_list)?;
    let finding = |directory: &std::path::Path| {
        let shown = shown_path(directory, env);
        let revoke = quote(&shown);
        let text = format!(
            "all recipes of {shown} run, whatever they become; to revoke it: towpath trust --revoke {revoke}"
        );
        Finding::ok("trusted", text)
    };
    Ok(trusted_directories::among(&records).map(finding).collect())
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

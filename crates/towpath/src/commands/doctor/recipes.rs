//! The recipes that a name can mean here: which cannot be read, and which nobody has agreed to.

use super::finding::Finding;
use super::journal::Record;
use super::settings::UNKNOWN;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::recipe_list::{Entry, entries_in};
use crate::session::trust::CalledAs;
use crate::terminal::format::{clean, count};
use crate::terminal::table::shown_path;
use towpath_recipe::SearchPath;
use towpath_shell::bash::quote;

/// More of one kind than this are only counted.
const MOST: usize = 8;

pub fn look(
    env: &Environment,
    search: &SearchPath,
    record: &Record,
) -> Result<Vec<Finding>, CommandError> {
    let mut entries = entries_in(&env.current, search, record.store.as_ref(), CalledAs::Towpath)?;
    // A directory that is not there is told with the places.
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
        // The reason often begins with the path it was asked about.
        let why = why.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&why);
        findings.push(Finding::broken("recipe", format!("{shown}: {why}"), fix));
    }
    if broken.len() > MOST {
        let more = format!("and {}", count(broken.len() - MOST, "more recipe"));
        findings.push(Finding::broken("recipe", more, "towpath list"));
    }
    if !untrusted.is_empty() && !record.unknown() {
        let names: Vec<String> = untrusted.iter().map(|e| clean(&e.recipe.name)).collect();
        let text = format!("{} would be found here and would not run", listed(&names));
        findings.push(Finding::attention("not trusted", text, "towpath trust"));
    }
    if record.unknown() && !untrusted.is_empty() {
        findings.push(Finding::ok("trust", format!("not known: {UNKNOWN}")));
    }
    let sound = entries.len() - broken.len();
    findings.push(Finding::ok(
        "recipes",
        format!("{}, built-in ones included", count(sound, "recipe")),
    ));
    Ok(findings)
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

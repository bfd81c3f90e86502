//! A rule written into the project's file. What the user writes there is trusted, unless the file had
//! something in it that the user has not seen.

use super::AddedRule;
use crate::corrections::active_rules;
use crate::corrections::rule_view::warnings_here;
use crate::environment::{Environment, is_project};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::diagnostics;
use crate::terminal::shown_path::shown_path;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_corrections::{
    EditError, FileTrust, ProjectRules, RULES_FILE, Rule, RuleBook, Scope, with_rule,
};

/// What a new file begins with.
const HEADER: &str = "\
# Corrections of what coding agents type wrong in this project.
# Each user agrees to them once: towpath trust .towpath/rules.toml
";

pub fn add(env: &Environment, rule: Rule, dry_run: bool) -> Result<AddedRule, CommandError> {
    let root = root(env)?;
    let path = files::below(&root, RULES_FILE)
        .map_err(|error| CommandError::bad_input(error.to_string()))?;
    let before = ProjectRules::of_file(env.journal()?.as_ref(), &path)?;
    let trusted = before.as_ref().is_none_or(|file| file.trust == FileTrust::Trusted);
    let text = before.as_ref().map(|file| file.text.as_str());
    let written = Rule { directory: below(&root, rule.directory.as_deref())?, ..rule.clone() };
    let key = rule.key();
    let replaces = before.iter().flat_map(|file| &file.rules).find(|old| old.key() == key).cloned();
    let (edited, _) =
        with_rule(&path, text, &written, HEADER).map_err(|error| unwritable(env, &path, error))?;
    if !dry_run {
        write(&path, text.is_some(), &edited)
            .map_err(|e| CommandError::setup(format!("{}: {e}", shown_path(&path, env))))?;
        if trusted {
            trust(env, &path)?;
        }
    }
    let known = active_rules(env, env.journal()?.as_ref(), &root)?;
    let in_file = known.project.iter().flat_map(|project| &project.rules);
    let saved = in_file.into_iter().find(|known| !dry_run && known.key() == key).cloned();
    let rule = saved.unwrap_or(Rule { scope: Scope::Project, ..rule });
    let warnings = warnings_here(env, &rule, &known.rules);
    Ok(AddedRule { replaces, saved: !dry_run, warnings, rule, file: Some((path, trusted)) })
}

/// The root of the project; a directory that is in none gets no file by accident.
fn root(env: &Environment) -> Result<PathBuf, CommandError> {
    let root = env.project_root(&env.current);
    match is_project(&root) {
        true => root.canonicalize().map_err(|error| {
            CommandError::bad_input(format!("{}: {error}", shown_path(&root, env)))
        }),
        false => Err(CommandError::bad_input(
            "this directory is in no project: there is no .git and no .towpath in it or above it; \
             to make it one: mkdir .towpath",
        )),
    }
}

/// A rule's directory as all who work on the project have it: relative to the root.
fn below(root: &Path, directory: Option<&str>) -> Result<Option<String>, CommandError> {
    let Some(directory) = directory else { return Ok(None) };
    let below = Path::new(directory).strip_prefix(root).map_err(|_| {
        CommandError::bad_input(format!("{directory} is not in the project {}", root.display()))
    })?;
    let text = below.to_string_lossy().into_owned();
    Ok((!text.is_empty()).then_some(text))
}

fn write(path: &Path, exists: bool, text: &str) -> std::io::Result<()> {
    match exists {
        true => files::replace(path, text.as_bytes()),
        false => files::create(path, text.as_bytes()),
    }
}

fn trust(env: &Environment, path: &Path) -> Result<(), CommandError> {
    let mut book = RuleBook::open(&env.directories.state)?;
    let Some(rules) = ProjectRules::of_file(Some(book.store()), path)? else { return Ok(()) };
    Ok(rules.record_trust(&mut book)?)
}

fn unwritable(env: &Environment, path: &Path, error: EditError) -> CommandError {
    let shown = shown_path(path, env);
    match error {
        EditError::Problems(problems) => {
            diagnostics::draw(&problems, env.color);
            let message = format!("{shown} is broken: fix it, then add the rule again");
            CommandError::new(Exit::BadInput, ErrorKind::BadInput, message)
        }
        EditError::OtherForm => CommandError::bad_input(format!(
            "{shown} does not have its rules as [[rule]] tables: write this one into it yourself"
        )),
    }
}

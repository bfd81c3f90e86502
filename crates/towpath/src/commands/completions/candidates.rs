//! What an argument can be: recipes and runs by name, steps of a run, files. Whatever cannot be
//! read has no candidates: completing a line reports no errors.

use super::answer_tab::CompletionRequest;
use super::typed_line::TypedLine;
use crate::corrections::active_rules;
use crate::corrections::rule_view::summary;
use crate::environment::Environment;
use crate::session::find_run::step_paths;
use crate::session::recipe_list;
use crate::session::recipe_search_path::{search_path, working_directory};
use crate::session::run_status::status_of;
use crate::session::time_flags::LIMITS;
use crate::settings::Settings;
use crate::terminal::format::{ago, now_ms};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{PathCompleter, ValueCompleter as _};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use towpath_agent::BACKENDS;
use towpath_core::{Map, RunStatus};
use towpath_corrections::STARTER;
use towpath_engine::recorded;
use towpath_recipe::{Request, RunOptions, SearchPath, builtin_names, names, resolve};
use towpath_store::{Found, RunFilter, Store};

/// What the value of an argument is.
#[derive(Debug, Clone, Copy)]
pub enum ArgumentKind {
    /// A recipe's name, or its file.
    Recipe,
    BuiltIn,
    /// A run of a status to which the command applies.
    Run {
        applies: fn(&RunStatus) -> bool,
    },
    /// A variable of the recipe that is named before it on the line, as `NAME=`.
    Variable,
    /// An agent program that is called.
    Backend,
    /// A step of the run that is named before it on the line.
    Step,
    /// A correction rule, of the user or of this project.
    Rule {
        /// Only those that are enabled, or only those that are not.
        enabled: Option<bool>,
    },
    /// A correction rule to begin with.
    Starter,
    Directory,
    Path,
}

/// More would be too many to choose from.
const MOST_RUNS: u32 = 100;

pub fn candidates(
    kind: ArgumentKind,
    request: &CompletionRequest,
    begun: &OsStr,
) -> Vec<CompletionCandidate> {
    let line = &request.line;
    let found = request.env.as_ref().and_then(|env| match kind {
        ArgumentKind::Recipe => recipes(env, line),
        ArgumentKind::BuiltIn => Some(builtin_names().map(CompletionCandidate::new).collect()),
        ArgumentKind::Run { applies } => runs(env, applies),
        ArgumentKind::Variable => variables(env, line),
        ArgumentKind::Backend => Some(BACKENDS.iter().map(|row| row.id.into()).collect()),
        ArgumentKind::Step => steps(env, line),
        ArgumentKind::Rule { enabled } => rules(env, enabled),
        ArgumentKind::Starter => Some(starters()),
        ArgumentKind::Directory | ArgumentKind::Path => None,
    });
    let mut found = found.unwrap_or_default();
    let begin = begun.as_encoded_bytes();
    found.retain(|c| c.get_value().as_encoded_bytes().starts_with(begin));
    match kind {
        ArgumentKind::Recipe => {
            found.extend(PathCompleter::any().filter(is_recipe).complete(begun));
        }
        ArgumentKind::Directory => found.extend(PathCompleter::dir().complete(begun)),
        ArgumentKind::Path => found.extend(PathCompleter::any().complete(begun)),
        ArgumentKind::BuiltIn
        | ArgumentKind::Run { .. }
        | ArgumentKind::Variable
        | ArgumentKind::Backend
        | ArgumentKind::Step
        | ArgumentKind::Rule { .. }
        | ArgumentKind::Starter => {}
    }
    found
}

fn candidate(value: &str, help: String) -> CompletionCandidate {
    CompletionCandidate::new(value).help(Some(help.into()))
}

fn is_recipe(path: &Path) -> bool {
    let recipe = path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
    let test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(".test"));
    recipe && !test && path.is_file()
}

/// Where the line looks for recipes: its working directory, and the directories for names.
fn lookup(env: &Environment, line: &TypedLine) -> Option<(PathBuf, SearchPath)> {
    let directory = line.given("-C", "--working-dir").pop();
    let directory = working_directory(env, directory.as_deref()).ok()?;
    // A project's own settings cannot choose where recipes are looked for.
    let settings = Settings::read(env, None).ok()?;
    let given = line.given("-R", "--recipe-dir");
    let search = search_path(env, &settings, &given, &directory).ok()?;
    Some((directory, search))
}

/// What the recipe on the line declares: its context, and what it requires.
fn variables(env: &Environment, line: &TypedLine) -> Option<Vec<CompletionCandidate>> {
    let (working_dir, search) = lookup(env, line)?;
    let words = line.before().iter().skip(1).filter_map(|word| word.to_str());
    let recipe =
        words.filter(|word| !word.starts_with('-') && !word.contains('=')).find_map(|word| {
            let request = Request {
                reference: word.to_owned(),
                working_dir: working_dir.clone(),
                search: search.clone(),
                inputs: Map::new(),
                run_options: RunOptions::default(),
            };
            resolve(&request).program
        })?;
    let root = recipe.root();
    let declared = root.context.keys().chain(&root.required_context);
    let names: BTreeSet<&String> = declared.collect();
    Some(names.into_iter().map(|name| CompletionCandidate::new(format!("{name}="))).collect())
}

fn recipes(env: &Environment, line: &TypedLine) -> Option<Vec<CompletionCandidate>> {
    let (_, search) = lookup(env, line)?;
    let with_origin =
        |(name, origin): (String, _)| candidate(&name, recipe_list::origin_word(origin).to_owned());
    Some(names(&search).into_iter().map(with_origin).collect())
}

/// Runs with the status that `runs` shows of them.
fn runs(env: &Environment, applies: fn(&RunStatus) -> bool) -> Option<Vec<CompletionCandidate>> {
    let store = Store::open_for_reading(&env.directories.state).ok()??;
    let rows = store.runs(&RunFilter { limit: Some(MOST_RUNS), ..RunFilter::default() }).ok()?;
    let now = now_ms();
    let with_status = rows.iter().map(|row| (row, status_of(&store, row)));
    let wanted = with_status.filter(|(_, status)| applies(status));
    let described = wanted.map(|(row, status)| {
        let help = format!("{}, {}, {}", row.recipe, status.as_str(), ago(row.created_ms, now));
        candidate(row.id.as_str(), help)
    });
    Some(described.collect())
}

fn rules(env: &Environment, enabled: Option<bool>) -> Option<Vec<CompletionCandidate>> {
    let store = Store::open_for_reading(&env.directories.state).ok()??;
    let known = active_rules(env, Some(&store), &env.current).ok()?;
    let wanted = known
        .all()
        .filter(|rule| rule.number > 0 && enabled.is_none_or(|enabled| rule.enabled == enabled));
    Some(wanted.map(|rule| candidate(&rule.number.to_string(), summary(rule))).collect())
}

fn starters() -> Vec<CompletionCandidate> {
    STARTER.iter().map(|starter| candidate(&starter.name, starter.message.clone())).collect()
}

fn steps(env: &Environment, line: &TypedLine) -> Option<Vec<CompletionCandidate>> {
    let store = Store::open_for_reading(&env.directories.state).ok()??;
    let words = line.before().iter().skip(1).filter_map(|word| word.to_str());
    let run =
        words.filter(|word| !word.starts_with('-')).find_map(|word| match store.find(word) {
            Ok(Found::One(row)) => Some(row),
            _ => None,
        })?;
    let known = recorded(&store, &run.id, LIMITS).ok()?;
    let mut paths = Vec::new();
    step_paths(&known.run.view(), &mut paths);
    Some(paths.into_iter().map(CompletionCandidate::new).collect())
}

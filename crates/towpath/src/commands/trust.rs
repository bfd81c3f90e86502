//! `towpath trust`: what a working tree would run, shown, and the user's consent to it, given,
//! listed and revoked.

use super::Execute;
use crate::documents::document_subject;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::project_settings::{project_settings, read_settings};
use crate::session::recipe_search_path::search_path;
use crate::session::resolve_recipe::show_problems;
use crate::session::tools_meeting_requirement::tools_subject;
use crate::session::trust::{AGENTS, ConsentStatus, ConsentSubject, ask, trusted_directories};
use crate::settings::{PROJECT_FILE, Settings};
use crate::terminal::format::{ago, clean, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use crate::terminal::shown_path::shown_path;
use crate::terminal::table::Table;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_corrections::{Error, ProjectRules, RULES_FILE, RuleBook};
use towpath_recipe::{Origin, list};
use towpath_shell::bash::quote;
use towpath_store::TrustRecord;
use towpath_testing::{is_test_file, test_file_of};
use towpath_tool::project_tools::TOOLS_FILE;
use towpath_view::foreign_text::escaped;

/// Show what a working tree would run or correct, and trust it.
///
/// A recipe is trusted until it, or anything that it calls, changes; a document that others import, the
/// settings, the correction rules and the tools of a project until their file changes. Without PATHS: everything
/// in this project.
///
/// Agents run with all permissions, unless their step sets a `mode`, and what an agent step of a step recipe
/// changed is staged in git when it ends well, unless it sets `auto_stage: false`.
///
/// Example: towpath trust --yes .towpath/recipes/ci.yaml
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Recipe files (with the tests beside them), test files, documents, a project's .towpath/settings.toml,
    /// .towpath/rules.toml or .towpath/tools.toml, or its directory.
    pub paths: Vec<PathBuf>,
    /// Trust all recipes of this project, whatever they become: for your own work. An agent that works here
    /// could rewrite them. `towpath doctor` lists such directories; `--revoke DIR` ends it.
    #[arg(long, conflicts_with_all = ["paths", "list", "revoke"])]
    pub here: bool,
    /// Trust without asking.
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    pub yes: bool,
    /// Only what has this hash, which --json prints: what has changed since then is refused.
    #[arg(long, requires = "paths")]
    pub hash: Option<String>,
    /// List what is trusted.
    #[arg(long, conflicts_with_all = ["paths", "revoke"])]
    pub list: bool,
    /// Revoke the trust in this path. Can be repeated.
    #[arg(long, value_name = "PATH", conflicts_with = "paths")]
    pub revoke: Vec<PathBuf>,
    /// Look for called recipes in this directory first, as the run will.
    #[arg(short = 'R', long = "recipe-dir", value_name = "DIR")]
    pub recipe_dirs: Vec<PathBuf>,
    /// Print one JSON object, and never prompt.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        if self.list {
            return show_list(env, self.json);
        }
        if !self.revoke.is_empty() {
            return revoke(env, self);
        }
        if self.here {
            return trust_here(env, self);
        }
        let subjects = subjects(env, self)?;
        let differs = |subject: &ConsentSubject| {
            self.hash.as_ref().is_some_and(|hash| subject.hash.to_string() != *hash)
        };
        if subjects.iter().any(differs) {
            let message = "it has changed since it was shown: look at it again";
            return Err(CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message));
        }
        let store = env.journal()?;
        let mut open = Vec::new();
        for subject in &subjects {
            let status = subject.status(store.as_ref())?;
            if status != ConsentStatus::Trusted {
                open.push((subject, status));
            }
        }
        drop(store);
        if self.json {
            return agree_silently(env, self, &subjects, &open);
        }
        if open.is_empty() {
            let none = subjects.is_empty();
            out::line(if none { "nothing here needs trust" } else { "everything is trusted" });
            return Ok(Exit::Done);
        }
        agree(env, self, &open)
    }

    fn json(&self) -> bool {
        self.json
    }
}

/// Trusts the project around the current directory as a whole, once the user has read what that means.
fn trust_here(env: &Environment, args: &Args) -> Result<Exit, CommandError> {
    let root = env.project_root(&env.current);
    let root =
        root.canonicalize().map_err(|e| CommandError::setup(format!("{}: {e}", escaped(&root))))?;
    let shown = escaped(&root);
    let asked = !args.yes && !args.json && !env.unattended && env.stderr_terminal;
    if !args.json {
        let meaning = trusted_directories::MEANING;
        Screen::new(env).message(&format!("{shown}\n\n{meaning}\n\n{AGENTS}\n"));
    }
    if !(args.yes || (asked && ask("Trust this directory?"))) {
        let message = "not trusted; to trust it: towpath trust --here --yes".to_owned();
        return Err(CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message));
    }
    RuleBook::open(&env.directories.state)?
        .change(|store| trusted_directories::record(store, &root))?;
    if args.json {
        out::json(&serde_json::json!({ "schema": 1, "directory": shown, "trusted": true }));
        return Ok(Exit::Done);
    }
    let argument = quote(&shown_path(&root, env));
    out::line(format!("trusted: {shown}; to revoke it: towpath trust --revoke {argument}"));
    Ok(Exit::Done)
}

/// Shows each subject, and records it where the user agrees.
fn agree(
    env: &Environment,
    args: &Args,
    open: &[(&ConsentSubject, ConsentStatus)],
) -> Result<Exit, CommandError> {
    let mut left = Vec::new();
    for (subject, status) in open {
        let path = shown_path(&subject.path, env);
        let changed = match status {
            ConsentStatus::Changed { at_ms } => {
                format!(", changed since it was trusted {}", ago(*at_ms, now_ms()))
            }
            _ => String::new(),
        };
        if !args.yes {
            out::line(format!("{path}: {}{changed}\n\n{}", subject.what, subject.contents));
            if subject.agents {
                Screen::new(env).message(&format!("{AGENTS}\n"));
            }
        }
        let asked = !args.yes && !env.unattended && env.stderr_terminal;
        if args.yes || (asked && ask("Trust it?")) {
            record(env, &[subject])?;
            out::line(format!("trusted: {path} ({})", subject.what));
        } else {
            left.push(subject.argument(env));
        }
    }
    if left.is_empty() {
        return Ok(Exit::Done);
    }
    let message = format!("not trusted; to trust it: towpath trust --yes {}", left.join(" "));
    Err(CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message))
}

/// Hooks use what is trusted from now on. The rules of a file get their numbers.
fn record(env: &Environment, subjects: &[&ConsentSubject]) -> Result<(), CommandError> {
    let mut book = RuleBook::open(&env.directories.state)?;
    for subject in subjects {
        book.change(|store| subject.record(store))?;
        if subject.path.ends_with(RULES_FILE)
            && let Some(rules) = ProjectRules::of_file(Some(book.store()), &subject.path)?
        {
            rules.number(&mut book)?;
        }
    }
    Ok(())
}

fn agree_silently(
    env: &Environment,
    args: &Args,
    subjects: &[ConsentSubject],
    open: &[(&ConsentSubject, ConsentStatus)],
) -> Result<Exit, CommandError> {
    if args.yes && !open.is_empty() {
        let subjects: Vec<&ConsentSubject> = open.iter().map(|(subject, _)| *subject).collect();
        record(env, &subjects)?;
    }
    let is_open = |subject: &ConsentSubject| open.iter().any(|(o, _)| o.path == subject.path);
    let each = |subject: &ConsentSubject| {
        serde_json::json!({
            "path": escaped(&subject.path),
            "hash": subject.hash.to_string(),
            "what": subject.what,
            "contents": subject.contents,
            "trusted": args.yes || !is_open(subject),
        })
    };
    let each: Vec<serde_json::Value> = subjects.iter().map(each).collect();
    out::json(&serde_json::json!({ "schema": 1, "things": each }));
    Ok(if args.yes || open.is_empty() { Exit::Done } else { Exit::Setup })
}

fn show_list(env: &Environment, json: bool) -> Result<Exit, CommandError> {
    let store = env.journal()?;
    let records = store.map_or(Ok(Vec::new()), |store| store.trust_list())?;
    if json {
        let each = |r: &TrustRecord| {
            serde_json::json!({
                "path": escaped(&r.path),
                "hash": r.hash.to_string(),
                "since": rfc3339(r.at_ms),
                "what": r.what,
            })
        };
        let each: Vec<serde_json::Value> = records.iter().map(each).collect();
        out::json(&serde_json::json!({ "schema": 1, "trusted": each }));
    } else if records.is_empty() {
        out::line("nothing is trusted yet");
    } else {
        let mut table = Table::new(&["PATH", "TRUSTED", "WHAT"]);
        for record in &records {
            let since = ago(record.at_ms, now_ms());
            let path = shown_path(&record.path, env);
            table.row(vec![path.into(), since.into(), (&record.what).into()]);
        }
        table.print(&Screen::new(env));
    }
    Ok(Exit::Done)
}

fn revoke(env: &Environment, args: &Args) -> Result<Exit, CommandError> {
    let unknown =
        |path: &Path| CommandError::bad_input(format!("{} is not trusted", escaped(path)));
    // Revoking creates no journal where there is none.
    let Some(known) = env.journal()? else {
        return Err(unknown(&args.revoke[0]));
    };
    let known = known.trust_list()?;
    let mut book = RuleBook::open(&env.directories.state)?;
    let mut revoked = Vec::new();
    for given in &args.revoke {
        let path = env.current.join(env.expand_home(given));
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        // For a directory the trust in everything below it is revoked.
        let below: Vec<PathBuf> = known
            .iter()
            .map(|record| record.path.clone())
            .filter(|p| p.starts_with(&real) || p.starts_with(&path))
            .collect();
        if below.is_empty() {
            return Err(unknown(given));
        }
        for path in below {
            if book.change(|store| store.trust_remove(&path).map_err(Error::from))? > 0 {
                revoked.push(path);
            }
        }
    }
    if args.json {
        let paths: Vec<String> = revoked.iter().map(|p| escaped(p)).collect();
        out::json(&serde_json::json!({ "schema": 1, "revoked": paths }));
    } else {
        for path in &revoked {
            out::line(format!("no longer trusted: {}", shown_path(path, env)));
        }
    }
    Ok(Exit::Done)
}

/// What the paths name, or this project has, that needs consent.
fn subjects(env: &Environment, args: &Args) -> Result<Vec<ConsentSubject>, CommandError> {
    if args.paths.is_empty() {
        return of_project(env, args, &env.current);
    }
    let mut subjects = Vec::new();
    for given in &args.paths {
        let path = env.current.join(env.expand_home(given));
        let real = path
            .canonicalize()
            .map_err(|e| CommandError::bad_input(missing(env, args, given, &e)))?;
        if real.is_dir() {
            subjects.extend(of_project(env, args, &real)?);
        } else if real.ends_with(PROJECT_FILE) {
            let text = read_settings(&real)
                .map_err(|e| CommandError::bad_input(format!("{}: {e}", escaped(given))))?;
            subjects.push(ConsentSubject::of_settings(&real, &text));
        } else if real.ends_with(RULES_FILE) {
            subjects.extend(of_rules(env, args, &real)?);
        } else if let Some(root) = root_of_tools_file(&real) {
            subjects.extend(tools_subject(root));
        } else if is_document(&real) {
            let bytes = std::fs::read(&real)
                .map_err(|e| CommandError::bad_input(format!("{}: {e}", escaped(given))))?;
            subjects.push(document_subject(&real, &bytes));
        } else if is_test_file(&real) {
            subjects.push(tests_subject(&real)?);
        } else {
            subjects.extend(of_recipe(env, args, &real)?);
        }
    }
    Ok(subjects)
}

/// Why a path cannot be trusted; where it is a recipe's name, the file to name instead.
fn missing(env: &Environment, args: &Args, given: &Path, error: &std::io::Error) -> String {
    let search = Settings::read(env, None)
        .and_then(|settings| search_path(env, &settings, &args.recipe_dirs, &env.current));
    let recipes = search.map_or_else(|_| Vec::new(), |search| list(&search));
    let named = recipes.iter().find(|recipe| Path::new(&recipe.name) == given);
    let shown = escaped(given);
    match named.map(|recipe| recipe.path.as_ref()) {
        Some(Some(path)) => {
            let path = quote(&shown_path(path, env));
            format!("{shown} is a recipe's name, and trust is in a file: towpath trust {path}")
        }
        Some(None) => format!("{shown} is a built-in recipe, which needs no trust"),
        None => format!("{shown}: {error}"),
    }
}

/// The project whose file of tools this is.
fn root_of_tools_file(path: &Path) -> Option<&Path> {
    path.ends_with(TOOLS_FILE).then(|| path.ancestors().nth(2)).flatten()
}

fn is_document(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("md" | "mld" | "meld" | "markdown"))
}

fn of_project(
    env: &Environment,
    args: &Args,
    directory: &Path,
) -> Result<Vec<ConsentSubject>, CommandError> {
    let settings = Settings::read(env, None)?;
    let search = search_path(env, &settings, &args.recipe_dirs, directory)?;
    let mut subjects = Vec::new();
    if let Some((path, text)) = project_settings(env, directory) {
        subjects.push(ConsentSubject::of_settings(&path, &text));
    }
    // A broken file is reported there, and does not prevent trusting the rest.
    let rules = env.project_root(directory).join(RULES_FILE);
    subjects.extend(of_rules(env, args, &rules).ok().flatten());
    subjects.extend(tools_subject(&env.project_root(directory)));
    for recipe in list(&search).into_iter().filter(|r| r.origin == Origin::Project) {
        let Some(path) = &recipe.path else { continue };
        if let Some(problem) = &recipe.broken {
            let path = shown_path(path, env);
            out::note(format!("note: {path} is broken: {}", clean(problem)));
            continue;
        }
        // A broken recipe is reported there, and does not prevent trusting the rest.
        subjects.extend(of_recipe(env, args, path).into_iter().flatten());
    }
    Ok(subjects)
}

/// A project's file of correction rules, if it is there.
fn of_rules(
    env: &Environment,
    args: &Args,
    path: &Path,
) -> Result<Option<ConsentSubject>, CommandError> {
    let Some(rules) = ProjectRules::of_file(None, path)? else { return Ok(None) };
    show_problems(&rules.problems, &shown_path(path, env), env, args.json)?;
    Ok(Some(ConsentSubject::of_rules(&rules.path, rules.hash, &rules.rules)))
}

/// A recipe, and the tests beside it.
fn of_recipe(
    env: &Environment,
    args: &Args,
    path: &Path,
) -> Result<Vec<ConsentSubject>, CommandError> {
    let mut subjects = vec![ConsentSubject::of_recipe(env, path, &args.recipe_dirs, args.json)?];
    if let Ok(tests) = test_file_of(path) {
        subjects.push(tests_subject(&tests)?);
    }
    Ok(subjects)
}

fn tests_subject(path: &Path) -> Result<ConsentSubject, CommandError> {
    let bytes = files::read_bytes(path, files::MOST_TEXT)
        .map_err(|e| CommandError::bad_input(format!("cannot read {}: {e}", escaped(path))))?;
    Ok(ConsentSubject::of_tests(path, &String::from_utf8_lossy(&bytes)))
}

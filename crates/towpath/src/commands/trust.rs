//! `towpath trust`: what a working tree would run, shown, and a person's consent to it, given,
//! listed and taken back.

use super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::resolve::show_problems;
use crate::session::search_path::search_path;
use crate::session::trust::{Standing, Thing, ask, project_settings, read_settings};
use crate::settings::{PROJECT_FILE, Settings};
use crate::terminal::format::{ago, clean, now_ms, rfc3339};
use crate::terminal::out;
use crate::terminal::table::{Screen, Table, escaped, shown_path};
use std::path::{Path, PathBuf};
use towpath_core::Map;
use towpath_recipe::{Origin, Request, Wishes, list, resolve};
use towpath_store::{Store, TrustRecord};

/// See what a working tree's recipes would run, and agree to it.
///
/// Consent holds until a recipe, or anything that it calls, changes. Without a path: everything
/// of this project.
///
/// Example: towpath trust --yes .towpath/recipes/ci.yaml
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Recipe files, a project's settings file, or a project's directory.
    pub paths: Vec<PathBuf>,
    /// Do not ask: trust what is there now.
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    pub yes: bool,
    /// What is trusted.
    #[arg(long, conflicts_with_all = ["paths", "revoke"])]
    pub list: bool,
    /// Trust this no longer. May be given several times.
    #[arg(long, value_name = "PATH", conflicts_with = "paths")]
    pub revoke: Vec<PathBuf>,
    /// Look for called recipes here first, as the run will.
    #[arg(short = 'R', long = "recipe-dir", value_name = "DIR")]
    pub recipe_dirs: Vec<PathBuf>,
    /// One JSON object on stdout. Nothing is asked.
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
        let things = things(env, self)?;
        let store = env.journal()?;
        let mut open = Vec::new();
        for thing in &things {
            let standing = thing.standing(store.as_ref())?;
            if standing != Standing::Trusted {
                open.push((thing, standing));
            }
        }
        drop(store);
        if self.json {
            return agree_silently(env, self, &things, &open);
        }
        if open.is_empty() {
            let what =
                if things.is_empty() { "nothing here needs trust" } else { "all is trusted" };
            out::line(what);
            return Ok(Exit::Done);
        }
        agree(env, self, &open)
    }

    fn json(&self) -> bool {
        self.json
    }
}

/// Shows each thing, and remembers it where the person agrees.
fn agree(
    env: &Environment,
    args: &Args,
    open: &[(&Thing, Standing)],
) -> Result<Exit, CommandError> {
    let mut left = Vec::new();
    for (thing, standing) in open {
        let path = shown_path(&thing.path, env);
        let changed = match standing {
            Standing::Changed { at_ms } => {
                format!(", changed since it was trusted {}", ago(*at_ms, now_ms()))
            }
            _ => String::new(),
        };
        if !args.yes {
            out::line(format!("{path}: {}{changed}\n\n{}", thing.what, thing.contents));
        }
        let asked = !args.yes && !env.unattended && env.stderr_terminal;
        if args.yes || (asked && ask("Trust it?")) {
            thing.remember(&mut Store::open(&env.directories.state)?)?;
            out::line(format!("trusted: {path} ({})", thing.what));
        } else {
            left.push(thing.argument(env));
        }
    }
    if left.is_empty() {
        return Ok(Exit::Done);
    }
    Err(CommandError::new(
        Exit::Setup,
        "not-trusted",
        format!("not trusted; to trust as it is now: towpath trust --yes {}", left.join(" ")),
    ))
}

fn agree_silently(
    env: &Environment,
    args: &Args,
    things: &[Thing],
    open: &[(&Thing, Standing)],
) -> Result<Exit, CommandError> {
    if args.yes && !open.is_empty() {
        let mut store = Store::open(&env.directories.state)?;
        for (thing, _) in open {
            thing.remember(&mut store)?;
        }
    }
    let is_open = |thing: &Thing| open.iter().any(|(o, _)| o.path == thing.path);
    let each = |thing: &Thing| {
        serde_json::json!({
            "path": escaped(&thing.path),
            "hash": thing.hash.to_string(),
            "what": thing.what,
            "contents": thing.contents,
            "trusted": args.yes || !is_open(thing),
        })
    };
    let each: Vec<serde_json::Value> = things.iter().map(each).collect();
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
        |path: &Path| CommandError::bad_input(format!("{} was not trusted", escaped(path)));
    // A machine without a journal gets none for being told to forget.
    let Some(known) = env.journal()? else {
        return Err(unknown(&args.revoke[0]));
    };
    let known = known.trust_list()?;
    let mut store = Store::open(&env.directories.state)?;
    let mut revoked = Vec::new();
    for given in &args.revoke {
        let path = env.current.join(env.expand_home(given));
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        // A directory takes back all that lies in it.
        let below: Vec<PathBuf> = known
            .iter()
            .map(|record| record.path.clone())
            .filter(|p| p.starts_with(&real) || p.starts_with(&path))
            .collect();
        if below.is_empty() {
            return Err(unknown(given));
        }
        for path in below {
            if store.trust_remove(&path)? > 0 {
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
fn things(env: &Environment, args: &Args) -> Result<Vec<Thing>, CommandError> {
    if args.paths.is_empty() {
        return of_project(env, args, &env.current);
    }
    let mut things = Vec::new();
    for given in &args.paths {
        let path = env.current.join(env.expand_home(given));
        let real = path
            .canonicalize()
            .map_err(|e| CommandError::bad_input(format!("{}: {e}", escaped(given))))?;
        if real.is_dir() {
            things.extend(of_project(env, args, &real)?);
        } else if real.ends_with(PROJECT_FILE) {
            let text = read_settings(&real)
                .map_err(|e| CommandError::bad_input(format!("{}: {e}", escaped(given))))?;
            things.push(Thing::of_settings(&real, &text));
        } else {
            things.push(of_recipe(env, args, &real)?);
        }
    }
    Ok(things)
}

fn of_project(
    env: &Environment,
    args: &Args,
    directory: &Path,
) -> Result<Vec<Thing>, CommandError> {
    let settings = Settings::read(env, None)?;
    let search = search_path(env, &settings, &args.recipe_dirs, directory)?;
    let mut things = Vec::new();
    if let Some((path, text)) = project_settings(env, directory) {
        things.push(Thing::of_settings(&path, &text));
    }
    for recipe in list(&search).into_iter().filter(|r| r.origin == Origin::Project) {
        let Some(path) = &recipe.path else { continue };
        if let Some(problem) = &recipe.broken {
            let path = shown_path(path, env);
            out::note(format!("note: {path} is broken: {}", clean(problem)));
            continue;
        }
        // What is broken has been told, and keeps nobody from trusting the rest.
        things.extend(of_recipe(env, args, path).ok());
    }
    Ok(things)
}

/// The whole plan behind a recipe's file, found as a run in its project finds it.
fn of_recipe(env: &Environment, args: &Args, path: &Path) -> Result<Thing, CommandError> {
    let own = env.project_root(path.parent().unwrap_or(path));
    let here = env.project_root(&env.current) == own;
    let working_dir = if here { env.current.clone() } else { own };
    let settings = Settings::read(env, None)?;
    let request = Request {
        reference: path.to_string_lossy().into_owned(),
        search: search_path(env, &settings, &args.recipe_dirs, &working_dir)?,
        working_dir,
        inputs: Map::new(),
        wishes: Wishes::default(),
    };
    let mut resolved = resolve(&request);
    resolved.problems.retain(towpath_core::Diagnostic::is_error);
    let shown = shown_path(path, env);
    show_problems(&resolved.problems, &shown, env, args.json)?;
    let program = resolved.program;
    program
        .map(|program| Thing::of_program(&program))
        .ok_or_else(|| CommandError::bad_input(format!("{shown} cannot be read")))
}

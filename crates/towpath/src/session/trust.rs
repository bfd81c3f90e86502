//! Consent. A file that the user names runs because they named it; what was only *found* in a working
//! tree comes from whoever wrote that tree, and runs after the user has seen it. Consent is to
//! contents at a path: the hash of the whole plan at the path of its first recipe, so that a change of
//! any file of the plan asks again, and so does the same text in another tree, where it calls other
//! scripts. A directory can be trusted as a whole (`trusted_directories.rs`). This module never runs anything
//! and trusts nothing by itself.

mod plan_as_text;
mod rules_as_text;
pub mod trusted_directories;

pub use plan_as_text::{AGENTS, visible};

use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::recipe_search_path::search_path;
use crate::session::resolve_recipe::show_problems;
use crate::settings::Settings;
use crate::terminal::format::{ago, count, now_ms};
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use towpath_core::{Diagnostic, Map};
use towpath_corrections::Rule;
use towpath_recipe::{Origin, Plan, Program, Request, RunOptions, plan_hash, resolve};
use towpath_shell::bash::quote;
use towpath_store::{PlanHash, Store, TrustRecord};
use towpath_view::foreign_text::escaped;

/// Something found in a working tree that the user may trust: a recipe, a settings file, or a file of
/// correction rules.
#[derive(Debug, Clone)]
pub struct ConsentSubject {
    pub path: PathBuf,
    pub hash: PlanHash,
    /// What it is, in a line.
    pub what: String,
    /// All that it would run, for the user to read.
    pub contents: String,
    /// Whether agents do some of it.
    pub agents: bool,
    /// The files of a recipe's plan: those of a trusted directory need no other consent.
    pub files: Vec<PathBuf>,
}

/// Whether the user has agreed to a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentStatus {
    Trusted,
    /// It was trusted at this time, and is not what it was.
    Changed {
        at_ms: i64,
    },
    New,
}

impl ConsentSubject {
    pub fn of_program(program: &Program) -> ConsentSubject {
        let plan = &program.plan;
        // A built-in has no path; what makes its plan need consent has one.
        let path = plan.recipes.iter().find_map(|r| r.path.as_ref());
        let root = program.root();
        let others = plan.recipes.len() - 1;
        let others = if others > 0 { format!(", calls {others} more") } else { String::new() };
        ConsentSubject {
            path: path.map(PathBuf::from).unwrap_or_default(),
            hash: parse_hash(&plan_hash(plan)),
            what: format!("recipe {}, {}{others}", visible(&root.name), {
                count(root.steps.len(), "step")
            }),
            contents: plan_as_text::program(program),
            agents: plan_as_text::asks_agents(program),
            files: files(plan),
        }
    }

    /// The whole plan behind a recipe's file, found as a run in its project finds it.
    pub fn of_recipe(
        env: &Environment,
        path: &Path,
        recipe_dirs: &[PathBuf],
        json: bool,
    ) -> Result<ConsentSubject, CommandError> {
        let own = env.project_root(path.parent().unwrap_or(path));
        let here = env.project_root(&env.current) == own;
        let working_dir = if here { env.current.clone() } else { own };
        let settings = Settings::read(env, None)?;
        let request = Request {
            reference: path.to_string_lossy().into_owned(),
            search: search_path(env, &settings, recipe_dirs, &working_dir)?,
            working_dir,
            inputs: Map::new(),
            run_options: RunOptions::default(),
        };
        let mut resolved = resolve(&request);
        resolved.problems.retain(Diagnostic::is_error);
        let shown = shown_path(path, env);
        show_problems(&resolved.problems, &shown, env, json)?;
        let program = resolved.program;
        program
            .map(|program| ConsentSubject::of_program(&program))
            .ok_or_else(|| CommandError::bad_input(format!("{shown} cannot be read")))
    }

    pub fn of_settings(path: &Path, text: &str) -> ConsentSubject {
        ConsentSubject::of_text(path, "settings", "project settings", text.as_bytes())
    }

    /// A file of recipe tests: its cases may have commands of their own.
    pub fn of_tests(path: &Path, text: &str) -> ConsentSubject {
        let subject = ConsentSubject::of_text(path, "tests", "recipe tests", text.as_bytes());
        ConsentSubject { files: vec![subject.path.clone()], ..subject }
    }

    /// A file by its text alone.
    pub fn of_text(path: &Path, kind: &str, what: &str, text: &[u8]) -> ConsentSubject {
        let mut hash = Sha256::new();
        hash.update(format!("towpath {kind} 1\0"));
        hash.update(text);
        let text = String::from_utf8_lossy(text);
        ConsentSubject {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            hash: PlanHash(hash.finalize().into()),
            what: what.to_owned(),
            contents: text.lines().map(|line| format!("  {}\n", visible(line))).collect(),
            agents: false,
            files: Vec::new(),
        }
    }

    /// The contents of a file of correction rules, by the hash of its text.
    pub fn of_rules(path: &Path, hash: PlanHash, rules: &[Rule]) -> ConsentSubject {
        ConsentSubject {
            path: path.to_owned(),
            hash,
            what: count(rules.len(), "correction rule"),
            contents: rules_as_text::rules(rules),
            agents: false,
            files: Vec::new(),
        }
    }

    pub fn status(&self, store: Option<&Store>) -> Result<ConsentStatus, CommandError> {
        let Some(store) = store else { return Ok(ConsentStatus::New) };
        if store.trusted_at(&self.path, &self.hash)?.is_some() {
            return Ok(ConsentStatus::Trusted);
        }
        let known = store.trust_list()?;
        if trusted_directories::cover(&known, &self.files) {
            return Ok(ConsentStatus::Trusted);
        }
        let before = known.iter().filter(|r| r.path == self.path).map(|r| r.at_ms).max();
        Ok(before.map_or(ConsentStatus::New, |at_ms| ConsentStatus::Changed { at_ms }))
    }

    pub fn record(&self, store: &mut Store) -> Result<(), CommandError> {
        store.trust_add(&TrustRecord {
            path: self.path.clone(),
            hash: self.hash,
            at_ms: now_ms(),
            what: self.what.clone(),
        })?;
        Ok(())
    }

    /// The path as an argument that a shell takes.
    pub fn argument(&self, env: &Environment) -> String {
        let below = self.path.strip_prefix(&env.current).unwrap_or(&self.path);
        let text = escaped(below);
        // A leading dash would be read as an option.
        quote(&if text.starts_with('-') { format!("./{text}") } else { text })
    }

    fn why(&self, status: ConsentStatus, env: &Environment) -> String {
        let path = shown_path(&self.path, env);
        match status {
            ConsentStatus::Changed { at_ms } => {
                format!("{path}, or what it calls, has changed since it was trusted {}", {
                    ago(at_ms, now_ms())
                })
            }
            _ => format!("{path} was found in the working tree and is not trusted"),
        }
    }
}

/// Every file that a plan was read from.
fn files(plan: &Plan) -> Vec<PathBuf> {
    let recipes = plan.recipes.iter().filter_map(|recipe| recipe.path.as_ref());
    let agents = plan.agents.values().filter_map(|agent| agent.path.as_ref());
    recipes.chain(agents).map(PathBuf::from).collect()
}

/// Whether a plan may run without asking.
pub fn is_trusted(store: Option<&Store>, program: &Program) -> Result<bool, CommandError> {
    Ok(ConsentSubject::of_program(program).status(store)? == ConsentStatus::Trusted)
}

/// Whether a plan would run only after the user has seen it.
pub fn needs_consent(
    env: &Environment,
    program: &Program,
    origin: Origin,
) -> Result<bool, CommandError> {
    Ok(origin == Origin::Project && !is_trusted(env.journal()?.as_ref(), program)?)
}

/// Asks for consent to a plan where it is needed.
pub fn consent(
    env: &Environment,
    store: &mut Store,
    program: &Program,
    origin: Origin,
) -> Result<(), CommandError> {
    if origin != Origin::Project {
        return Ok(());
    }
    let subjects = [ConsentSubject::of_program(program)];
    for subject in agreed(env, Some(store), &subjects)? {
        subject.record(store)?;
    }
    Ok(())
}

/// Asks for consent to what a command found in a working tree; the journal is written only where the user agrees.
pub fn consent_to(env: &Environment, subjects: &[ConsentSubject]) -> Result<(), CommandError> {
    let known = env.journal()?;
    let agreed = agreed(env, known.as_ref(), subjects)?;
    drop(known);
    if agreed.is_empty() {
        return Ok(());
    }
    let mut store = Store::open(&env.directories.state)?;
    agreed.into_iter().try_for_each(|subject| subject.record(&mut store))
}

/// The subjects to which the user has agreed only now. Where no user can be asked, it is one error with the command.
fn agreed<'a>(
    env: &Environment,
    store: Option<&Store>,
    subjects: &'a [ConsentSubject],
) -> Result<Vec<&'a ConsentSubject>, CommandError> {
    let mut open = Vec::new();
    for subject in subjects {
        let status = subject.status(store)?;
        let trusted = status == ConsentStatus::Trusted;
        tracing::debug!(trusted, path = %escaped(&subject.path), "looked up the trust");
        if !trusted {
            open.push((subject, subject.why(status, env)));
        }
    }
    if !open.is_empty() && (env.unattended || !env.stderr_terminal) {
        let arguments: Vec<String> =
            open.iter().map(|(subject, _)| subject.argument(env)).collect();
        let arguments = arguments.join(" ");
        let (why, it, them) = match &open[..] {
            [(_, why)] => (why.clone(), "it", "it"),
            _ => {
                let why = "was found in the working tree, and is not trusted or has changed";
                (format!("what would run {why}"), "it", "all of it")
            }
        };
        return Err(not_trusted(format!(
            "{why}; to see what {it} would run: towpath trust {arguments}; to trust {them}: towpath \
             trust --yes {arguments}"
        )));
    }
    for (subject, why) in &open {
        ask_for(env, subject, why)?;
    }
    Ok(open.into_iter().map(|(subject, _)| subject).collect())
}

/// Shows what would run, and asks.
fn ask_for(env: &Environment, subject: &ConsentSubject, why: &str) -> Result<(), CommandError> {
    out::note(format!("{why}. It would run:"));
    // What would run is shown as it is.
    out::message(&format!("\n{}\n", subject.contents));
    if subject.agents {
        out::note(format!("{AGENTS}\n"));
    }
    out::note("in a project of your own, `towpath trust --here` ends these questions");
    if ask("Trust it and run it?") {
        return Ok(());
    }
    let argument = subject.argument(env);
    Err(not_trusted(format!("{argument} is not trusted; nothing was run")))
}

fn not_trusted(message: String) -> CommandError {
    CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message)
}

/// For the other names, whose programs know no trust: prints a warning, and continues.
pub fn warn(env: &Environment, program: &Program, origin: Origin) -> Result<(), CommandError> {
    if origin != Origin::Project {
        return Ok(());
    }
    let store = env.journal()?;
    let subject = ConsentSubject::of_program(program);
    let status = subject.status(store.as_ref())?;
    if status != ConsentStatus::Trusted {
        let argument = subject.argument(env);
        let why = subject.why(status, env);
        out::note(format!("warning: {why}; to see what it runs: towpath trust {argument}"));
    }
    Ok(())
}

/// Asks on stderr; anything but a clear yes is a no.
pub fn ask(question: &str) -> bool {
    out::stderr(format!("{question} [y/N] ").as_bytes());
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn parse_hash(hex: &str) -> PlanHash {
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        let digit = |c: u8| char::from(c).to_digit(16).expect("a hash is written in hexadecimal");
        *byte = (digit(pair[0]) * 16 + digit(pair[1])) as u8;
    }
    PlanHash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_keeps_every_digit() {
        let hex = "00ff0123456789abcdef00ff0123456789abcdef00ff0123456789abcdef0011";
        assert_eq!(parse_hash(hex).to_string(), hex);
    }
}

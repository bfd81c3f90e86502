//! Consent. A file that the user names runs because they named it; what was only *found* in a working
//! tree comes from whoever wrote that tree, and runs after the user has seen it. Consent is to
//! contents at a path: the hash of the whole plan at the path of its first recipe, so that a change of
//! any file of the plan asks again, and so does the same text in another tree, where it calls other
//! scripts. This module never runs anything and trusts nothing by itself.

mod plan_as_text;
mod rules_as_text;

pub use plan_as_text::visible;

use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::settings::{PROJECT_FILE, Settings};
use crate::terminal::format::{ago, count, now_ms};
use crate::terminal::out;
use crate::terminal::table::{escaped, shown_path};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use towpath_recipe::{Origin, Program, Request, Resolved, ShadowedBuiltIn, plan_hash, resolve};
use towpath_rules::Rule;
use towpath_shell::bash::quote;
use towpath_store::{PlanHash, Store, TrustRecord};

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
        }
    }

    pub fn of_settings(path: &Path, text: &str) -> ConsentSubject {
        let mut hash = Sha256::new();
        hash.update(b"towpath settings 1\0");
        hash.update(text.as_bytes());
        ConsentSubject {
            path: path.canonicalize().unwrap_or_else(|_| path.to_owned()),
            hash: PlanHash(hash.finalize().into()),
            what: "project settings".to_owned(),
            contents: text.lines().map(|line| format!("  {}\n", visible(line))).collect(),
        }
    }

    /// The contents of a file of correction rules, by the hash of its text.
    pub fn of_rules(path: &Path, hash: PlanHash, rules: &[Rule]) -> ConsentSubject {
        ConsentSubject {
            path: path.to_owned(),
            hash,
            what: count(rules.len(), "correction rule"),
            contents: rules_as_text::rules(rules),
        }
    }

    pub fn status(&self, store: Option<&Store>) -> Result<ConsentStatus, CommandError> {
        let Some(store) = store else { return Ok(ConsentStatus::New) };
        if store.trusted_at(&self.path, &self.hash)?.is_some() {
            return Ok(ConsentStatus::Trusted);
        }
        let known = store.trust_list()?;
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

/// Asks for consent where it is needed. Where no user can be asked, it is an error with the command.
pub fn consent(
    env: &Environment,
    store: &mut Store,
    program: &Program,
    origin: Origin,
) -> Result<(), CommandError> {
    if origin != Origin::Project {
        return Ok(());
    }
    let subject = ConsentSubject::of_program(program);
    let status = subject.status(Some(store))?;
    tracing::debug!(trusted = status == ConsentStatus::Trusted, "looked up the trust in this plan");
    if status == ConsentStatus::Trusted {
        return Ok(());
    }
    let why = subject.why(status, env);
    let argument = subject.argument(env);
    if env.unattended || !env.stderr_terminal {
        return Err(not_trusted(format!(
            "{why}; to see what it would run: towpath trust {argument}; to trust it: towpath trust \
             --yes {argument}"
        )));
    }
    out::note(format!("{why}. It would run:\n\n{}", subject.contents));
    if !ask("Trust it and run it?") {
        return Err(not_trusted(format!("{argument} is not trusted; nothing was run")));
    }
    subject.record(store)
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

/// The name under which the program was called. It decides what a name means when a file of the
/// working tree and a built-in both have it, and the file is not trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CalledAs {
    /// Neither of the two runs until the user decides.
    #[default]
    Towpath,
    /// The built-in.
    AgentRecipes,
    /// The file, as that program's search order has it.
    RecipeRunner,
}

/// What a reference means to a command that runs it.
pub fn resolved_to_run(
    env: &Environment,
    request: &Request,
    called_as: CalledAs,
) -> Result<Resolved, CommandError> {
    resolved(env, request, called_as, |_| true)
}

/// What a reference means to a command that only looks: as `towpath`, an invalid file is reported, and
/// an untrusted valid one does not replace a built-in of its name.
pub fn resolved_to_look(
    env: &Environment,
    request: &Request,
    called_as: CalledAs,
) -> Result<Resolved, CommandError> {
    resolved(env, request, called_as, |found| found.program.is_none())
}

fn resolved(
    env: &Environment,
    request: &Request,
    called_as: CalledAs,
    keeps_named_file: impl FnOnce(&Resolved) -> bool,
) -> Result<Resolved, CommandError> {
    let found = resolve(request);
    match called_as {
        CalledAs::RecipeRunner => {
            name_shadows(env, &found.shadowed_built_ins);
            Ok(found)
        }
        CalledAs::Towpath if names_a_file(&found, request) && keeps_named_file(&found) => Ok(found),
        CalledAs::Towpath | CalledAs::AgentRecipes => built_ins_first(env, request, found),
    }
}

fn name_shadows(env: &Environment, shadows: &[ShadowedBuiltIn]) {
    for ShadowedBuiltIn { name, path } in shadows {
        let path = shown_path(path, env);
        note_once(format!("note: {path} replaces the built-in `{}`", visible(name)));
    }
}

/// Whether the name that was given is a built-in's and a file's.
fn names_a_file(found: &Resolved, request: &Request) -> bool {
    found.shadowed_built_ins.iter().any(|shadow| shadow.name == request.reference)
}

/// An untrusted file of the working tree does not replace a built-in of its name.
fn built_ins_first(
    env: &Environment,
    request: &Request,
    found: Resolved,
) -> Result<Resolved, CommandError> {
    if found.origin != Origin::Project || found.shadowed_built_ins.is_empty() {
        return Ok(found);
    }
    let store = env.journal()?;
    if let Some(program) = &found.program
        && is_trusted(store.as_ref(), program)?
    {
        return Ok(found);
    }
    let mut request = request.clone();
    request.search.directories.retain(|d| d.origin != Origin::Project);
    request.search.agents.retain(|d| d.origin != Origin::Project);
    let own = resolve(&request);
    if own.program.is_none() || own.origin == Origin::Project {
        return Ok(found);
    }
    for shadow in &found.shadowed_built_ins {
        let path = shown_path(&shadow.path, env);
        let (why, how) = match found.program.is_some() {
            true => ("is not trusted", "to use it: towpath trust"),
            false => ("is not valid", "to see why: towpath validate"),
        };
        note_once(format!(
            "note: {path} {why} and does not replace the built-in `{}`; {how} {}",
            shadow.name,
            quote(&path),
        ));
    }
    Ok(own)
}

/// The settings in effect in a directory: the user's own, and the project's once trusted.
pub fn settings_for(env: &Environment, directory: &Path) -> Result<Settings, CommandError> {
    let Some((path, text)) = project_settings(env, directory) else {
        return Settings::read(env, None);
    };
    let subject = ConsentSubject::of_settings(&path, &text);
    let store = env.journal()?;
    let status = subject.status(store.as_ref())?;
    if status == ConsentStatus::Trusted {
        return Settings::read(env, Some((&path, &text)));
    }
    let argument = subject.argument(env);
    note_once(format!(
        "warning: {} and is not used; to see it: towpath trust {argument}",
        match status {
            ConsentStatus::Changed { .. } => format!("{argument} has changed since it was trusted"),
            _ => format!("{argument} is not trusted"),
        }
    ));
    Settings::read(env, None)
}

/// Prints a note on stderr, each once: a command may ask for the same settings several times.
fn note_once(note: String) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !printed.contains(&note) {
        out::note(&note);
        printed.insert(note);
    }
}

/// No settings file is larger than this.
const MOST_SETTINGS: u64 = 1 << 20;

/// The project's settings file, trusted or not. An unreadable one is reported and ignored.
pub fn project_settings(env: &Environment, directory: &Path) -> Option<(PathBuf, String)> {
    let path = env.project_root(directory).join(PROJECT_FILE);
    match read_settings(&path) {
        Ok(text) => Some((path, text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            note_once(format!("warning: {}: {error}; it is not used", escaped(&path)));
            None
        }
    }
}

pub fn read_settings(path: &Path) -> std::io::Result<String> {
    // A pipe or a device in the working tree must not block us.
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(MOST_SETTINGS + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_SETTINGS {
        return Err(std::io::Error::other("larger than 1 MiB"));
    }
    Ok(text)
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

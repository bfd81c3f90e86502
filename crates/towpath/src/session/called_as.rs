//! What a name means when a file of the working tree and a built-in recipe both have it.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::trust::{is_trusted, visible};
use crate::terminal::out::note_once;
use crate::terminal::shown_path::shown_path;
use towpath_recipe::{Dialect, Origin, Request, Resolved, ShadowedBuiltIn, resolve};
use towpath_shell::bash::quote;

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

impl CalledAs {
    /// By whose rules recipes are read.
    pub fn dialect(self) -> Dialect {
        match self {
            CalledAs::Towpath => Dialect::Towpath,
            CalledAs::AgentRecipes => Dialect::AgentRecipes,
            CalledAs::RecipeRunner => Dialect::RecipeRunner,
        }
    }
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
    name_file_beside(request, &found);
    match called_as {
        CalledAs::RecipeRunner => {
            name_shadows(env, &found.shadowed_built_ins);
            Ok(found)
        }
        CalledAs::Towpath if names_a_file(&found, request) && keeps_named_file(&found) => Ok(found),
        CalledAs::Towpath | CalledAs::AgentRecipes => built_ins_first(env, request, found),
    }
}

/// A file in the working directory that has a built-in's name runs only by its path.
fn name_file_beside(request: &Request, found: &Resolved) {
    let name = &request.reference;
    let files = ["yaml", "yml", "json"].map(|ending| format!("./{name}.{ending}"));
    let file = files.iter().find(|file| request.working_dir.join(file).is_file());
    if let (Origin::BuiltIn, Some(file)) = (found.origin, file) {
        note_once(format!(
            "note: `{}` is the built-in recipe; the file runs by its path: {}",
            visible(name),
            quote(file),
        ));
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

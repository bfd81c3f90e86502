//! `towpath recipes eject`: a built-in recipe as a file, to be edited.

use super::directory_for_new;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::recipe_search_path::PROJECT_DIRECTORIES;
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_core::nearest;
use towpath_recipe::{builtin_alone, builtin_names};
use towpath_shell::bash::quote;

/// Copy a built-in recipe into the project, to edit it.
///
/// A state machine is copied as one file with all its steps. An existing file is never touched.
///
/// Example: towpath recipes eject demo
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The built-in recipe, as `towpath list` shows it.
    #[arg(value_name = "NAME")]
    pub builtin: String,
    /// Copy it to this directory [default: the project's .towpath/recipes]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
}

pub fn execute(args: &Args, env: &Environment) -> Result<Exit, CommandError> {
    let name = &args.builtin;
    let Some(text) = builtin_alone(name) else { return Err(unknown(name)) };
    let directory = match &args.to {
        Some(given) => env.current.join(env.expand_home(given)),
        None => directory_for_new(env),
    };
    let path = directory.join(format!("{name}.yaml"));
    let shown = shown_path(&path, env);
    files::create(&path, text.as_bytes()).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            CommandError::bad_input(format!("{shown} exists already; move it away first"))
        }
        _ => CommandError::setup(format!("{shown}: {error}")),
    })?;
    out::line(format!("created {shown}, a copy of the built-in {name}"));
    let file = quote(&shown);
    if is_searched(env, &directory) {
        out::line(format!("to let `{name}` mean this file:"));
        out::line(format!("  towpath trust {file}"));
    } else {
        out::line(format!("to run it:\n  towpath run {file}"));
    }
    Ok(Exit::Done)
}

/// Whether names are looked for in this directory of the project.
fn is_searched(env: &Environment, directory: &Path) -> bool {
    let root = env.project_root(&env.current);
    let real = |path: &Path| path.canonicalize().ok();
    PROJECT_DIRECTORIES.iter().any(|inside| real(&root.join(inside)) == real(directory))
}

fn unknown(name: &str) -> CommandError {
    let hint = match nearest(name, builtin_names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", builtin_names().collect::<Vec<_>>().join(", ")),
    };
    CommandError::bad_input(format!(
        "there is no built-in recipe `{}`: {hint}",
        crate::terminal::format::clean(name)
    ))
}

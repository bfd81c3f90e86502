//! `towpath new`: a first recipe with its tests, to be changed into one's own. It makes two files
//! and never touches one that is there.

use super::Execute;
use crate::environment::Invocation;
use crate::environment::{Environment, is_project};
use crate::exit::{CommandError, Exit};
use crate::files;
use crate::session::search_path::PROJECT_PLACES;
use crate::terminal::out;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use towpath_core::is_safe_name;
use towpath_shell::bash::quote;

use crate::terminal::table::shown_path;

/// Start a recipe: a file with comments to change into your own, and its tests.
///
/// In a project it goes to .towpath/recipes, so that `towpath run NAME` finds it; elsewhere into
/// the current directory. A file that is there is never touched.
///
/// Example: towpath new nightly-checks
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Letters, digits, `_` and `-`; `team/NAME` puts it into a folder.
    pub name: String,
    /// A recipe whose steps choose the next one.
    #[arg(long, group = "kind")]
    pub machine: bool,
    /// A document that runs its own commands.
    #[arg(long, group = "kind")]
    pub document: bool,
    /// A recipe that installs a tool.
    #[arg(long, group = "kind")]
    pub tool: bool,
}

/// What can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Steps,
    Machine,
    Document,
    Tool,
}

/// The texts of a kind: the recipe, with `NAME` for the name, and its tests.
struct Starter {
    recipe: &'static str,
    tests: &'static str,
}

impl Kind {
    fn of(args: &Args) -> Kind {
        match (args.machine, args.document, args.tool) {
            (true, _, _) => Kind::Machine,
            (_, true, _) => Kind::Document,
            (_, _, true) => Kind::Tool,
            _ => Kind::Steps,
        }
    }

    fn starter(self) -> Result<Starter, CommandError> {
        let what = match self {
            Kind::Steps => {
                return Ok(Starter {
                    recipe: include_str!("new/starter.yaml"),
                    tests: include_str!("new/starter.test.yaml"),
                });
            }
            Kind::Machine => {
                return Ok(Starter {
                    recipe: include_str!("new/machine.yaml"),
                    tests: include_str!("new/machine.test.yaml"),
                });
            }
            Kind::Document => "documents are",
            Kind::Tool => "tool recipes are",
        };
        Err(CommandError::bad_input(format!("{what} not available in this version")))
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let starter = Kind::of(self).starter()?;
        let env = invocation.environment()?;
        let name = self.name.strip_suffix(".yaml").unwrap_or(&self.name);
        if !is_safe_name(name) || name.starts_with('-') {
            return Err(CommandError::bad_input(format!(
                "`{}` cannot be a recipe's name: use letters, digits, `_` and `-`, as in \
                 towpath new nightly-checks",
                crate::terminal::format::clean(&self.name)
            )));
        }
        let own = name.rsplit('/').next().unwrap_or(name);
        if self.machine && !towpath_recipe::is_kebab_case(own) {
            return Err(CommandError::bad_input(format!(
                "`{own}` cannot be a machine's id: use small letters and digits, with `-` between \
                 words, as in towpath new --machine fix-until-green"
            )));
        }
        let directory = directory(env);
        let recipe = directory.join(format!("{name}.yaml"));
        let tests = directory.join(format!("{name}.test.yaml"));
        for path in [&recipe, &tests] {
            if path.symlink_metadata().is_ok() {
                return Err(is_there(path, env));
            }
        }
        let named = if self.machine { own } else { name };
        make(&recipe, &starter.recipe.replace("NAME", &yaml(named)), env)?;
        make(&tests, starter.tests, env)?;
        say_next(name, &recipe, &tests, env);
        Ok(Exit::Done)
    }
}

/// Where a new recipe goes.
fn directory(env: &Environment) -> PathBuf {
    let root = env.project_root(&env.current);
    if is_project(&root) { root.join(PROJECT_PLACES[0]) } else { env.current.clone() }
}

fn is_there(path: &Path, env: &Environment) -> CommandError {
    let shown = shown_path(path, env);
    CommandError::bad_input(format!(
        "{shown} is there already; take another name, or move it away first"
    ))
}

fn make(path: &Path, text: &str, env: &Environment) -> Result<(), CommandError> {
    files::create(path, text.as_bytes()).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => is_there(path, env),
        _ => CommandError::setup(format!("{}: {error}", shown_path(path, env))),
    })
}

/// A name as YAML reads it back: `true` or `1` would be no text.
fn yaml(name: &str) -> String {
    let word = name.to_ascii_lowercase();
    let special = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if plain && !special.contains(&word.as_str()) { name.to_owned() } else { format!("\"{name}\"") }
}

fn say_next(name: &str, recipe: &Path, tests: &Path, env: &Environment) {
    let shown = shown_path(recipe, env);
    let file = quote(&shown);
    let mut lines = vec![
        (format!("towpath run {file}"), "runs it"),
        (format!("towpath test {file}"), "runs its cases"),
        (format!("towpath validate {file}"), "says what is wrong with it"),
    ];
    if recipe.parent() != Some(env.current.as_path()) {
        lines.push((format!("towpath trust {file}"), "lets it run by its name"));
    }
    let width = lines.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    out::line(format!("made {shown}\n     {}\n", shown_path(tests, env)));
    for (command, what) in lines {
        out::line(format!("  {command:width$}  {what}"));
    }
    if towpath_recipe::builtin(name).is_some() {
        out::note(format!(
            "note: there is a built-in recipe `{name}` too; the file takes its place once it is trusted"
        ));
    }
}

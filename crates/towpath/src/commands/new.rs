//! `towpath new`: a first recipe with its tests, to be edited. It creates two files and never touches
//! an existing one.

mod schema_line;

use super::Execute;
use crate::environment::{Environment, Invocation, is_project};
use crate::exit::{CommandError, Exit};
use crate::session::recipe_search_path::PROJECT_DIRECTORIES;
use crate::terminal::out;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_core::{Value, is_safe_name};
use towpath_shell::bash::quote;

use crate::terminal::shown_path::shown_path;
use schema_line::schema_line;

/// Create a recipe and its tests, to edit.
///
/// In a project they go to .towpath/recipes, where `towpath run NAME` finds the recipe; elsewhere to
/// the current directory. Existing files are never touched. In a project the first line of each names its
/// JSON Schema, for editors, which is created in .towpath.
///
/// Example: towpath new nightly-checks
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recipe's name: letters, digits, `_` and `-`; `team/NAME` puts it into a directory.
    pub name: String,
    /// Create a state machine: each step's outcome chooses the next step.
    #[arg(long, group = "kind")]
    pub machine: bool,
    /// Create a document that runs its own commands.
    #[arg(long, group = "kind", hide = true)]
    pub document: bool,
    /// Create a recipe that installs a tool.
    #[arg(long, group = "kind", hide = true)]
    pub tool: bool,
}

/// What can be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StarterKind {
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

impl StarterKind {
    fn of(args: &Args) -> StarterKind {
        match (args.machine, args.document, args.tool) {
            (true, _, _) => StarterKind::Machine,
            (_, true, _) => StarterKind::Document,
            (_, _, true) => StarterKind::Tool,
            _ => StarterKind::Steps,
        }
    }

    fn starter(self) -> Result<Starter, CommandError> {
        let what = match self {
            StarterKind::Steps => {
                return Ok(Starter {
                    recipe: include_str!("new/starter.yaml"),
                    tests: include_str!("new/starter.test.yaml"),
                });
            }
            StarterKind::Machine => {
                return Ok(Starter {
                    recipe: include_str!("new/machine.yaml"),
                    tests: include_str!("new/machine.test.yaml"),
                });
            }
            StarterKind::Document => "documents are",
            StarterKind::Tool => "tool recipes are",
        };
        Err(CommandError::bad_input(format!("{what} not available in this version")))
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let starter = StarterKind::of(self).starter()?;
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
                "`{own}` cannot be the id of a state machine: use lower-case letters and digits, with \
                 `-` between words, as in towpath new --machine fix-until-green"
            )));
        }
        let directory = directory(env);
        let recipe = directory.join(format!("{name}.yaml"));
        let tests = directory.join(format!("{name}.test.yaml"));
        for path in [&recipe, &tests] {
            if path.symlink_metadata().is_ok() {
                return Err(exists(path, env));
            }
        }
        let named = if self.machine { own } else { name };
        let (format, schema) = match self.machine {
            true => ("machine", towpath_recipe::machine_schema()),
            false => ("steps", towpath_recipe::steps_schema()),
        };
        let text = starter.recipe.replace("NAME", &yaml(named));
        let mut created = vec![recipe.clone(), tests.clone()];
        created.extend(create_with_schema(&recipe, &text, format, &schema, env)?);
        let schema = towpath_testing::test_file_schema();
        created.extend(create_with_schema(&tests, starter.tests, "test", &schema, env)?);
        print_next(name, &recipe, &created, env);
        Ok(Exit::Done)
    }
}

/// Where a new recipe goes.
fn directory(env: &Environment) -> PathBuf {
    let root = env.project_root(&env.current);
    if is_project(&root) { root.join(PROJECT_DIRECTORIES[0]) } else { env.current.clone() }
}

fn exists(path: &Path, env: &Environment) -> CommandError {
    let shown = shown_path(path, env);
    CommandError::bad_input(format!(
        "{shown} exists already; choose another name, or move it away first"
    ))
}

/// Creates a file of a format; gives the schema's file if that was created too.
fn create_with_schema(
    path: &Path,
    text: &str,
    format: &str,
    schema: &Value,
    env: &Environment,
) -> Result<Option<PathBuf>, CommandError> {
    let failed = |path: &Path, error: &std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path, env),
        _ => CommandError::setup(format!("{}: {error}", shown_path(path, env))),
    };
    let first = schema_line(path, format, schema, env).map_err(|(path, e)| failed(&path, &e))?;
    files::create(path, format!("{}{text}", first.line).as_bytes())
        .map_err(|e| failed(path, &e))?;
    Ok(first.created)
}

/// A name as YAML reads it back: `true` or `1` would not be strings.
fn yaml(name: &str) -> String {
    let word = name.to_ascii_lowercase();
    let special = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if plain && !special.contains(&word.as_str()) { name.to_owned() } else { format!("\"{name}\"") }
}

fn print_next(name: &str, recipe: &Path, created: &[PathBuf], env: &Environment) {
    let shown = shown_path(recipe, env);
    let file = quote(&shown);
    let mut lines = vec![
        (format!("towpath run {file}"), "run it"),
        (format!("towpath test {file}"), "run its tests"),
        (format!("towpath validate {file}"), "check it"),
    ];
    if recipe.parent() != Some(env.current.as_path()) {
        lines.push((format!("towpath trust {file}"), "let it run by its name"));
    }
    let width = lines.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let created: Vec<String> = created.iter().map(|path| shown_path(path, env)).collect();
    out::line(format!("created {}\n", created.join("\n        ")));
    for (command, what) in lines {
        out::line(format!("  {command:width$}  {what}"));
    }
    if towpath_recipe::builtin(name).is_some() {
        out::note(format!(
            "note: there is a built-in recipe `{name}` too; the file replaces it once it is trusted"
        ));
    }
}

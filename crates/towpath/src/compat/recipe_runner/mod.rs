//! `recipe-runner-rs`: its flags, texts and exit codes (0 done, 1 failed, 2 bad recipe or usage,
//! signals) over the one engine. Where its own texts promise something, that is what happens here.

mod agent_choice;
mod dry_run;
mod explain;
mod list;
mod run;
mod run_summary;
mod validate;

use super::answer_version;
use crate::environment::Invocation;
use crate::exit::{CommandError, Ended, Exit};
use crate::session::called_as::CalledAs;
use crate::session::choose_agent::unknown_modes;
use crate::session::request_flags::{RequestFlags, RunFlags, SharedFlags};
use crate::session::resolve_recipe::{resolve, show_problems};
use crate::terminal::out;
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use towpath_recipe::{Origin, Program, builtin};
use towpath_view::foreign_text::first_line;

/// Run step recipes: recipe-runner-rs RECIPE, or recipe-runner-rs list.
///
/// Example: recipe-runner-rs build.yaml --set mode=release
#[derive(Debug, Parser)]
#[command(name = NAME, version)]
struct RecipeRunnerArgs {
    /// The recipe, by file or by name, or `list`.
    recipe: Option<String>,
    /// The working directory: where steps run and relative paths start.
    #[arg(short = 'C', long, value_name = "DIR")]
    working_dir: Option<PathBuf>,
    /// Look for recipes in this directory first. Can be repeated.
    #[arg(short = 'R', long, value_name = "DIR")]
    recipe_dir: Vec<PathBuf>,
    /// Set a context variable.
    #[arg(short = 'c', long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Show what would run, and run nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not stage files in git, even for steps that ask for it.
    #[arg(long)]
    no_auto_stage: bool,
    /// Check the recipe, and run nothing.
    #[arg(long)]
    validate_only: bool,
    /// Show the recipe's steps, and run nothing.
    #[arg(long)]
    explain: bool,
    /// Print a line on stderr when a step starts and when it ends.
    #[arg(long)]
    progress: bool,
    /// Also run steps with one of these tags; untagged steps always run.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    include_tags: Vec<String>,
    /// Run tagged steps, except those with one of these tags.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    exclude_tags: Vec<String>,
    /// Write a JSON line for every ended step to a new file in this directory.
    #[arg(long, value_name = "DIR")]
    audit_dir: Option<PathBuf>,
    /// The format of the result.
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    output_format: String,
    /// The program for agent steps: claude, codex, copilot, gemini or opencode, or the path of one, or
    /// of a program that works like claude [default: AMPLIHACK_AGENT_BINARY]
    #[arg(long, value_name = "NAME|PATH")]
    agent_binary: Option<String>,
}

impl RecipeRunnerArgs {
    fn json(&self) -> bool {
        self.output_format == "json"
    }

    fn request(&self) -> RequestFlags {
        RequestFlags {
            set: self.set.clone(),
            directory: self.working_dir.clone(),
            recipe_dirs: self.recipe_dir.clone(),
            include_tags: self.include_tags.clone(),
            exclude_tags: self.exclude_tags.clone(),
        }
    }

    /// The same request as flags of `towpath run`.
    fn run_flags(&self) -> RunFlags {
        RunFlags {
            called_as: CalledAs::RecipeRunner,
            request: self.request(),
            no_auto_stage: self.no_auto_stage,
            dry_run: self.dry_run,
            shared: SharedFlags {
                json: self.json(),
                // A script that reads the progress reads nothing else of ours.
                quiet: self.progress,
                audit_dir: self.audit_dir.clone(),
                ..SharedFlags::default()
            },
            ..RunFlags::default()
        }
    }
}

const NAME: &str = "recipe-runner-rs";

/// The file that runs instead of a built-in recipe: under this name it runs without asking, so the
/// first line names it.
fn found_at(program: &Program, origin: Origin) -> String {
    let root = &program.plan.recipes[0];
    let name = root.path.as_ref().and_then(|path| Path::new(path).file_stem()?.to_str());
    match origin == Origin::Project && name.is_some_and(|name| builtin(name).is_some()) {
        true => format!(" from {}", first_line(&root.source)),
        false => String::new(),
    }
}

pub fn run(arguments: &[OsString], invocation: &Invocation) -> Ended {
    if answer_version(NAME, arguments) {
        return exit(Ok(Exit::Done)).into();
    }
    let name = OsString::from(NAME);
    let line = match RecipeRunnerArgs::try_parse_from(std::iter::once(&name).chain(arguments)) {
        Ok(line) => line,
        Err(error) => return exit(super::usage(&error, Exit::BadInput)).into(),
    };
    Ended { result: exit(execute(&line, invocation)), json: line.json() }
}

/// This name's exit code for ours.
fn exit(result: Result<Exit, CommandError>) -> Result<Exit, CommandError> {
    match result {
        // What should be on stdout is lost: a failure, because this name has no other code for it.
        Ok(Exit::Done) if out::failed() => Ok(Exit::Failed),
        result => result.map(code).map_err(|e| CommandError { exit: code(e.exit), ..e }),
    }
}

/// The codes that this name knows; signals keep theirs.
fn code(exit: Exit) -> Exit {
    match exit {
        Exit::Done | Exit::BadInput => exit,
        Exit::Hangup | Exit::Interrupted | Exit::Terminated => exit,
        _ => Exit::Failed,
    }
}

fn execute(line: &RecipeRunnerArgs, invocation: &Invocation) -> Result<Exit, CommandError> {
    let Some(recipe) = &line.recipe else {
        return Err(CommandError::bad_input(
            "no recipe: recipe-runner-rs RECIPE, or recipe-runner-rs list",
        ));
    };
    let env = invocation.environment()?;
    if recipe == "list" {
        return list::execute(env, line);
    }
    if line.validate_only {
        return validate::execute(env, line, recipe);
    }
    if line.explain {
        return explain::execute(env, line, recipe);
    }
    let mut flags = line.run_flags();
    let mut chosen = resolve(env, &flags, recipe, |_| false)?;
    flags.agent = agent_choice::flags(env, line.agent_binary.as_deref(), &chosen.program)?;
    let modes = unknown_modes(&chosen.settings, &flags.agent, &chosen.program)?;
    show_problems(&modes, recipe, env, line.json())?;
    chosen.problems.extend(modes);
    if line.dry_run {
        return dry_run::execute(env, line, &chosen, &flags);
    }
    run::execute(env, line, chosen, &flags)
}

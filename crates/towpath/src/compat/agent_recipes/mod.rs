//! `agent-recipes`: its flags, texts and exit codes over the one engine. 0: an exit of the machine was
//! reached; 1: the recipe is not valid; 2: no outcome could be read; 3: a limit; 4: the agent failed;
//! 5: configuration, usage, an unknown recipe.

mod cost;
mod list;

use crate::commands::run::{self, Chosen, Ready};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Ended, Exit};
use crate::session::agents::AgentFlags;
use crate::session::audit::{Complete, audited};
use crate::session::dry_run;
use crate::session::machine_flags::{LimitFlags, MACHINES, MachineFlags};
use crate::session::request::RequestFlags;
use crate::session::result::result;
use crate::session::time_flags::TimeFlags;
use crate::session::trust::{self, CalledAs};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::report::{self, EventFlags, Look, OUTPUT, Voice};
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;
use towpath_core::Diagnostic;
use towpath_engine::RunEnd;
use towpath_recipe::dry_run_layout;
use towpath_run::RunOutcome;
use towpath_store::Store;
use towpath_view::{failure_text, machine_exit};

/// Run machine recipes: an agent works and reports, the machine decides what comes next.
///
/// Example: agent-recipes review-and-commit --verbose
#[derive(Debug, Parser)]
#[command(name = "agent-recipes", version)]
struct Line {
    /// A recipe's id, or its file.
    recipe_id: Option<String>,
    /// List all available recipes with their descriptions.
    #[arg(long)]
    list: bool,
    /// Print the recipe's structure without running it.
    #[arg(long)]
    dry_run: bool,
    /// Where the agent works.
    #[arg(long, value_name = "PATH")]
    working_dir: Option<PathBuf>,
    /// Set a variable that the recipe declares.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Look for recipes here first. May be given several times.
    #[arg(short = 'R', long, value_name = "DIR")]
    recipe_dir: Vec<PathBuf>,
    #[command(flatten)]
    agent: AgentFlags,
    /// The model tier of steps that name none: haiku, sonnet or opus.
    #[arg(long, value_name = "TIER", help_heading = MACHINES)]
    model: Option<String>,
    #[command(flatten)]
    limits: LimitFlags,
    /// Begin in this conversation, which the agent's program already has.
    #[arg(long, value_name = "ID", help_heading = MACHINES)]
    session: Option<String>,
    /// What the work is about: stands before the first prompt of every session.
    #[arg(long, value_name = "TEXT", conflicts_with = "context_file", help_heading = MACHINES)]
    context: Option<String>,
    /// As --context, from a file.
    #[arg(long, value_name = "FILE", help_heading = MACHINES)]
    context_file: Option<PathBuf>,
    /// Instructions beside the agent's own, for backends that can take them.
    #[arg(long, value_name = "TEXT", help_heading = MACHINES)]
    system_prompt: Option<String>,
    #[command(flatten)]
    times: TimeFlags,
    /// One JSON object on stdout when the run has ended, nothing else there.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Log the machine's state on stderr: steps, outcomes, transitions.
    #[arg(long, help_heading = OUTPUT)]
    verbose: bool,
    #[command(flatten)]
    events: EventFlags,
}

impl Line {
    fn request(&self) -> RequestFlags {
        RequestFlags {
            set: self.set.clone(),
            directory: self.working_dir.clone(),
            recipe_dirs: self.recipe_dir.clone(),
            ..RequestFlags::default()
        }
    }

    /// The same wish in the words of `towpath run`.
    fn run_args(&self, recipe: &str) -> run::Args {
        run::Args {
            recipe: Some(recipe.to_owned()),
            request: self.request(),
            dry_run: self.dry_run,
            called_as: CalledAs::AgentRecipes,
            machine: MachineFlags {
                model: self.model.clone(),
                limits: self.limits.clone(),
                session: self.session.clone(),
                context: self.context.clone(),
                context_file: self.context_file.clone(),
                system_prompt: self.system_prompt.clone(),
            },
            agent: self.agent.clone(),
            shared: run::Shared {
                json: self.json,
                verbose: self.verbose,
                events: self.events.clone(),
                times: self.times.clone(),
                ..run::Shared::default()
            },
            ..run::Args::default()
        }
    }
}

pub fn run(arguments: &[OsString], invocation: &Invocation) -> Ended {
    let name = OsString::from("agent-recipes");
    let line = match Line::try_parse_from(std::iter::once(&name).chain(arguments)) {
        Ok(line) => line,
        Err(error) => return super::usage(&error, Exit::Setup).into(),
    };
    let result = execute(&line, invocation);
    let result = result.map(code).map_err(|e| CommandError { exit: stopped(&e), ..e });
    Ended { result, json: line.json }
}

/// How a run that ended is told.
fn code(exit: Exit) -> Exit {
    match exit {
        Exit::Failed => Exit::BadInput,
        Exit::Waiting => Exit::Agent,
        other => other,
    }
}

/// What ends it before or beside a run: a recipe that is not valid is 1, everything else 5.
fn stopped(stop: &CommandError) -> Exit {
    match (stop.exit, stop.kind) {
        (Exit::BadInput, "bad-recipe") => Exit::Failed,
        (Exit::BadInput | Exit::Setup, _) => Exit::Setup,
        (exit, _) => exit,
    }
}

fn execute(line: &Line, invocation: &Invocation) -> Result<Exit, CommandError> {
    let env = invocation.environment()?;
    if line.list {
        return list::execute(env, line);
    }
    let Some(recipe) = &line.recipe_id else {
        return Err(CommandError::bad_input(
            "no recipe: agent-recipes RECIPE-ID, or agent-recipes --list",
        ));
    };
    let args = line.run_args(recipe);
    let chosen = run::chosen_or(env, &args, recipe, tell_list)?;
    if chosen.program.root().machine().is_none() {
        let message = format!("{recipe} is a list of steps: towpath run {recipe}");
        return Err(CommandError::new(Exit::BadInput, "bad-recipe", message));
    }
    if line.dry_run && line.json {
        return dry_run::execute(env, &chosen, &args);
    }
    if line.dry_run {
        let plan = &chosen.program.plan;
        let layout = dry_run_layout(chosen.program.root(), &plan.machine).unwrap_or_default();
        out::stdout(layout.as_bytes());
        return Ok(Exit::Done);
    }
    go(env, line, chosen, &args)
}

fn go(
    env: &Environment,
    line: &Line,
    chosen: Chosen,
    args: &run::Args,
) -> Result<Exit, CommandError> {
    trust::warn(env, &chosen.program, chosen.origin)?;
    let mut store = Store::open(&env.directories.state)?;
    let look = Look { voice: Voice::Orchestration, ..Look::new(env, &args.shared) };
    let Ready { prepared, config, tree, .. } = run::ready(env, &mut store, chosen, args)?;
    let driven = report::drive(prepared, &mut store, config, tree, &look, None, &line.events)?;
    audited(None, driven, |end, complete| conclude(&end, complete, &store, line))
}

/// The last words: why it failed and what it cost on stderr, how it ended on stdout's last line.
fn conclude(
    end: &RunEnd,
    complete: Complete,
    store: &Store,
    line: &Line,
) -> Result<Exit, CommandError> {
    let exit = Exit::of_outcome(&end.outcome);
    if line.json {
        out::json(&result(store, end, code(complete.exit(exit)), false)?);
        return Ok(exit);
    }
    for why in why(end) {
        out::note(why);
    }
    for text in cost::report(&end.run) {
        out::note(text);
    }
    if !end.unused_lines.is_empty() {
        out::note(report::unused(&end.unused_lines).render(false));
    }
    report::session(end).iter().for_each(out::note);
    if exit != Exit::Done {
        for way in report::next_commands::ways(&end.id, &end.run) {
            out::note(format!("{}: {}", way.when, way.command));
        }
    }
    if let Some(last) = last_line(end) {
        out::line(last);
    }
    Ok(exit)
}

/// What stands against going on: at which step, and what was said of it.
fn why(end: &RunEnd) -> Vec<String> {
    match &end.outcome {
        RunOutcome::Failed { step, failure } => {
            vec![format!("{step}: {}", failure_text(failure))]
        }
        _ => report::rate_limit::notes(end),
    }
}

fn last_line(end: &RunEnd) -> Option<String> {
    let exit = machine_exit(&end.run)?;
    let more = exit.description.map_or(String::new(), |text| format!(" — {text}"));
    // The last line is one line, whatever an agent wrote.
    let line = format!("Exit: {}{more}", exit.reason).replace(['\n', '\r', '\t'], " ");
    Some(clean(&line))
}

/// What is wrong with a recipe, as a bare list; a recipe that is not there is told as ever.
fn tell_list(problems: &[Diagnostic]) -> bool {
    if run::is_nowhere(problems) {
        return false;
    }
    let errors: Vec<serde_json::Value> = problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| serde_json::json!({ "error": problem.message }))
        .collect();
    let lines: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
    out::note(format!("[\n{}\n]", lines.join(",\n")));
    true
}

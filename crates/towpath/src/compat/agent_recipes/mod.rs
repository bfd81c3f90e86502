//! `agent-recipes`: its flags, texts and exit codes over the one engine. 0: an exit of the machine was
//! reached; 1: the recipe is not valid; 2: no outcome could be read; 3: a limit; 4: the agent failed;
//! 5: configuration, usage, an unknown recipe.

mod cost_report;
mod list;

use crate::environment::Invocation;
use crate::exit::{CommandError, Ended, ErrorKind, Exit};
use crate::session::called_as::CalledAs;
use crate::session::choose_agent::AgentFlags;
use crate::session::conclude::conclude_with;
use crate::session::request_flags::{RequestFlags, RunFlags, SharedFlags};
use crate::session::resolve_recipe::{is_nowhere, resolve};
use crate::session::result_json::result;
use crate::session::state_machine_flags::{LimitFlags, MACHINES, MachineFlags};
use crate::session::time_flags::TimeFlags;
use crate::session::{DrivenRun, Session, dry_run, trust};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::report::{self, EventFlags, OUTPUT, ReporterKind};
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;
use towpath_core::Diagnostic;
use towpath_engine::RunEnd;
use towpath_recipe::{Ending, dry_run_layout};
use towpath_run::RunOutcome;
use towpath_store::Store;
use towpath_view::{failure_text, machine_exit};

/// Run state machines: an agent works and reports, the state machine chooses the next step.
///
/// Example: agent-recipes review-and-commit --verbose
#[derive(Debug, Parser)]
#[command(name = "agent-recipes", version)]
struct AgentRecipesArgs {
    /// The recipe, by id or by file.
    recipe_id: Option<String>,
    /// List all available recipes with their descriptions.
    #[arg(long)]
    list: bool,
    /// Print the recipe's structure without running it.
    #[arg(long)]
    dry_run: bool,
    /// The directory in which the agent works.
    #[arg(long, value_name = "PATH")]
    working_dir: Option<PathBuf>,
    /// Set a variable that the recipe declares.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Look for recipes in this directory first. Can be repeated.
    #[arg(short = 'R', long, value_name = "DIR")]
    recipe_dir: Vec<PathBuf>,
    #[command(flatten)]
    agent: AgentFlags,
    /// The model tier for steps without one: haiku, sonnet or opus.
    #[arg(long, value_name = "TIER", help_heading = MACHINES)]
    model: Option<String>,
    #[command(flatten)]
    limits: LimitFlags,
    /// Start in this existing conversation of the agent's program.
    #[arg(long, value_name = "ID", help_heading = MACHINES)]
    session: Option<String>,
    /// Put TEXT before the first prompt of every session.
    #[arg(long, value_name = "TEXT", conflicts_with = "context_file", help_heading = MACHINES)]
    context: Option<String>,
    /// Like --context, from a file.
    #[arg(long, value_name = "FILE", help_heading = MACHINES)]
    context_file: Option<PathBuf>,
    /// Add system instructions, for backends that support them.
    #[arg(long, value_name = "TEXT", help_heading = MACHINES)]
    system_prompt: Option<String>,
    #[command(flatten)]
    times: TimeFlags,
    /// Print one JSON object on stdout when the run ends, and nothing else.
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Log the machine's state on stderr: steps, outcomes, transitions.
    #[arg(long, help_heading = OUTPUT)]
    verbose: bool,
    #[command(flatten)]
    events: EventFlags,
}

impl AgentRecipesArgs {
    fn request(&self) -> RequestFlags {
        RequestFlags {
            set: self.set.clone(),
            directory: self.working_dir.clone(),
            recipe_dirs: self.recipe_dir.clone(),
            ..RequestFlags::default()
        }
    }

    /// The same request as flags of `towpath run`.
    fn run_flags(&self) -> RunFlags {
        RunFlags {
            request: self.request(),
            dry_run: self.dry_run,
            called_as: CalledAs::AgentRecipes,
            machine: MachineFlags {
                model: self.model.clone(),
                limits: self.limits.clone(),
                session: self.session.clone(),
                conversation: None,
                context: self.context.clone(),
                context_file: self.context_file.clone(),
                system_prompt: self.system_prompt.clone(),
            },
            agent: self.agent.clone(),
            shared: SharedFlags {
                json: self.json,
                verbose: self.verbose,
                events: self.events.clone(),
                times: self.times.clone(),
                ..SharedFlags::default()
            },
            ..RunFlags::default()
        }
    }
}

pub fn run(arguments: &[OsString], invocation: &Invocation) -> Ended {
    let name = OsString::from("agent-recipes");
    let line = match AgentRecipesArgs::try_parse_from(std::iter::once(&name).chain(arguments)) {
        Ok(line) => line,
        Err(error) => return super::usage(&error, Exit::Setup).into(),
    };
    let result = execute(&line, invocation);
    let result = result.map(code).map_err(|e| CommandError { exit: error_exit(&e), ..e });
    Ended { result, json: line.json }
}

/// This name's exit code for a run that ended.
fn code(exit: Exit) -> Exit {
    match exit {
        Exit::Failed => Exit::BadInput,
        Exit::Waiting => Exit::Agent,
        other => other,
    }
}

/// This name's exit code for an error before or beside a run: a recipe that is not valid is 1,
/// everything else 5.
fn error_exit(error: &CommandError) -> Exit {
    match (error.exit, error.kind) {
        (Exit::BadInput, ErrorKind::BadRecipe) => Exit::Failed,
        (Exit::BadInput | Exit::Setup, _) => Exit::Setup,
        (exit, _) => exit,
    }
}

fn execute(line: &AgentRecipesArgs, invocation: &Invocation) -> Result<Exit, CommandError> {
    let env = invocation.environment()?;
    if line.list {
        return list::execute(env, line);
    }
    let Some(recipe) = &line.recipe_id else {
        return Err(CommandError::bad_input(
            "no recipe: agent-recipes RECIPE-ID, or agent-recipes --list",
        ));
    };
    let flags = line.run_flags();
    let chosen = resolve(env, &flags, recipe, print_problems)?;
    if chosen.program.root().machine().is_none() {
        let message = format!("{recipe} is a step recipe; to run it: towpath run {recipe}");
        return Err(CommandError::new(Exit::BadInput, ErrorKind::BadRecipe, message));
    }
    if line.dry_run && line.json {
        return dry_run::execute(env, &chosen, &flags);
    }
    if line.dry_run {
        let plan = &chosen.program.plan;
        let layout = dry_run_layout(chosen.program.root(), &plan.machine).unwrap_or_default();
        out::stdout(layout.as_bytes());
        return Ok(Exit::Done);
    }
    trust::warn(env, &chosen.program, chosen.origin)?;
    let store = Store::open(&env.directories.state)?;
    let mut session = Session::new(env, store, &flags.shared, ReporterKind::Orchestration)?;
    let recorded = session.record(chosen, &flags)?;
    let driven = session.drive(recorded)?;
    let by_exit = ended_by_exit(&driven.end);
    let exit = conclude_with(driven, |driven| report_end(&session, driven, line))?;
    Ok(of_exit(exit, by_exit))
}

/// Whether an exit transition ended the machine. `fail` is none of the format.
fn ended_by_exit(end: &RunEnd) -> bool {
    end.run.exit().is_some_and(|exit| exit.ending != Ending::Fail)
}

/// Every exit transition is code 0 here, whatever the run records about it.
fn of_exit(exit: Exit, by_exit: bool) -> Exit {
    match exit {
        Exit::Failed | Exit::Decide if by_exit => Exit::Done,
        other => other,
    }
}

/// The last lines: why it failed and what it cost on stderr, how it ended on stdout's last line.
fn report_end(
    session: &Session<'_>,
    driven: &DrivenRun,
    line: &AgentRecipesArgs,
) -> Result<(), CommandError> {
    let end = &driven.end;
    let exit = of_exit(driven.exit(), ended_by_exit(end));
    if line.json {
        out::json(&result(&session.store, end, code(exit), false)?);
        return Ok(());
    }
    for why in why(end).into_iter().filter(|_| exit != Exit::Done) {
        out::note(why);
    }
    for text in cost_report::report(&end.run) {
        out::note(text);
    }
    if !end.unused_lines.is_empty() {
        out::note(report::unused(&end.unused_lines).render(false));
    }
    report::session(end).iter().for_each(out::note);
    if exit != Exit::Done {
        for way in report::next_commands::ways(&end.id, &end.run, false) {
            out::note(format!("{}: {}", way.when, way.command));
        }
    }
    if let Some(last) = last_line(end) {
        out::line(last);
    }
    Ok(())
}

/// Why the run cannot continue: at which step, and what was reported.
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

/// Prints the errors of a recipe as a bare JSON list. A recipe that does not exist is left to the
/// usual report.
fn print_problems(problems: &[Diagnostic]) -> bool {
    if is_nowhere(problems) {
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

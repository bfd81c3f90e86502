//! `towpath run`: a fresh run of a recipe, recorded from its first step.

use super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::agents::{self, AgentFlags};
use crate::session::audit::{Audit, Complete, audited};
use crate::session::beads;
use crate::session::demo;
use crate::session::machine_flags::MachineFlags;
use crate::session::missing_programs;
use crate::session::models;
use crate::session::other_runs;
use crate::session::recipe_list;
use crate::session::request::{Here, RequestFlags};
use crate::session::result::result;
use crate::session::secrets;
use crate::session::time_flags::TimeFlags;
use crate::session::trust::{self, CalledAs};
use crate::session::wait;
use crate::session::worktree::{self, Left};
use crate::settings::Settings;
use crate::terminal::diagnostics;
use crate::terminal::format::ago;
use crate::terminal::out;
use crate::terminal::report::{self, EventFlags, Look, OUTPUT};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_core::{Diagnostic, RunStatus, Secrets, nearest};
use towpath_engine::{Config, Prepared, RunEnd, SessionTree, Substitutes, WardenStart, Worktree};
use towpath_recipe::{Origin, Program, Resolved};
use towpath_run::Limits;
use towpath_store::{RunFilter, Store};
use towpath_testing::Rehearsal;

/// Run a recipe: a file, or the name of one that `towpath list` shows.
///
/// Every step is recorded as it starts and ends. If the run fails or is cut off, `towpath resume`
/// goes on where it was.
///
/// Example: towpath run build.yaml --set mode=release
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A recipe's file, or its name. Without it, the recipes are listed.
    pub recipe: Option<String>,
    #[command(flatten)]
    pub request: RequestFlags,
    /// Stage nothing in git, whatever the steps say.
    #[arg(long)]
    pub no_auto_stage: bool,
    /// Say what would run, and run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// What `towpath test` gives a case: inputs with their types, and substitutes.
    #[arg(long, value_name = "FILE", hide = true)]
    pub rehearsal: Option<PathBuf>,
    /// Wait until the agent's rate limit resets or its service answers again, then continue
    /// (default: exit 75 at a limit, 4 at a fault).
    #[arg(long)]
    pub wait: bool,
    /// Run in a git worktree of its own beside the repository, on the branch NAME: made, or found
    /// from before. `auto` makes a name.
    #[arg(long, value_name = "NAME|auto")]
    pub worktree: Option<String>,
    #[arg(skip)]
    pub called_as: CalledAs,
    #[command(flatten)]
    pub agent: AgentFlags,
    #[command(flatten)]
    pub machine: MachineFlags,
    #[command(flatten)]
    pub shared: Shared,
}

/// What `run` and `resume` share.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Shared {
    #[command(flatten)]
    pub times: TimeFlags,
    /// Mask the value of this environment variable wherever it turns up. May be given several times.
    #[arg(long, value_name = "NAME", help_heading = OUTPUT)]
    pub secret: Vec<String>,
    /// One JSON object on stdout when the run has ended, nothing else there.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// With --json: the final variables too.
    #[arg(long, requires = "json", help_heading = OUTPUT)]
    pub with_context: bool,
    /// Only what the steps print, and what went wrong.
    #[arg(short, long, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Also commands, hooks and the end of processes.
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub verbose: bool,
    /// Write a line of JSON for every step that ends into a new file in this directory.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub audit_dir: Option<PathBuf>,
    #[command(flatten)]
    pub events: EventFlags,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let Some(recipe) = self.recipe.clone() else {
            let RequestFlags { directory, recipe_dirs, .. } = &self.request;
            let found =
                recipe_list::entries(env, directory.as_deref(), recipe_dirs, self.called_as)?;
            recipe_list::print(&found, env, self.shared.json);
            return Ok(Exit::Done);
        };
        let chosen = chosen(env, self, &recipe)?;
        if self.dry_run {
            return crate::session::dry_run::execute(env, &chosen, self);
        }
        let mut audit = Audit::in_directory(env, self.shared.audit_dir.as_deref())?;
        let mut store = Store::open(&env.directories.state)?;
        trust::consent(env, &mut store, &chosen.program, chosen.origin)?;
        let look = Look::new(env, &self.shared);
        let retry_wait = chosen.settings.retry_wait();
        let ready = ready(env, &mut store, chosen, self)?;
        let Ready { mut prepared, config, tree, worktree } = ready;
        if self.wait {
            prepared.be_patient(&mut store, retry_wait)?;
        }
        let driven = report::drive(
            prepared,
            &mut store,
            config,
            tree,
            &look,
            audit.as_mut(),
            &self.shared.events,
        )?;
        if self.wait && wait::helps(&driven.end) {
            wait::go_on(&driven.end.id, 0, &AgentFlags::default(), &self.shared);
        }
        let left = worktree.map(|worktree| worktree::leave(env, &store, &driven.end, worktree));
        audited(audit, driven, |end, complete| {
            conclude(env, end, complete, &store, &look, &self.shared, left.as_ref())
        })
    }

    fn json(&self) -> bool {
        self.shared.json
    }
}

/// What a person asked for, found and sound.
pub struct Chosen {
    pub program: Program,
    pub origin: Origin,
    pub directory: PathBuf,
    pub settings: Settings,
    pub problems: Vec<Diagnostic>,
    substitutes: Substitutes,
    secrets: Secrets,
}

/// Finds and reads the recipe; says what is wrong with it.
pub fn chosen(env: &Environment, args: &Args, recipe: &str) -> Result<Chosen, CommandError> {
    chosen_or(env, args, recipe, |_| false)
}

/// As `chosen`; `broken` may say in its own words what is wrong with a recipe that cannot be run: true
/// when it has.
pub fn chosen_or(
    env: &Environment,
    args: &Args,
    recipe: &str,
    broken: impl FnOnce(&[Diagnostic]) -> bool,
) -> Result<Chosen, CommandError> {
    let secrets = secrets::of_run(env, &args.shared.secret)?;
    secrets::refuse_set(&secrets, &args.request.set)?;
    let here = args.request.here(env)?;
    let mut request = args.request.request(env, &here, recipe)?;
    request.wishes.no_auto_stage = args.no_auto_stage;
    request.wishes.machine = args.machine.wishes()?;
    request.wishes.to_run = true;
    let times = &args.shared.times;
    request.wishes.step_timeout = times.step_timeout.or(here.settings.step_timeout());
    let rehearsal = match &args.rehearsal {
        Some(file) => Rehearsal::read(file)
            .map_err(|e| CommandError::bad_input(format!("--rehearsal {}: {e}", file.display())))?,
        None => Rehearsal::default(),
    };
    request.inputs.extend(rehearsal.inputs.clone());
    let resolved = match args.dry_run {
        true => trust::resolved_to_look(env, &request, args.called_as)?,
        false => trust::resolved_to_run(env, &request, args.called_as)?,
    };
    let name = resolved.plan.as_ref().map_or(recipe, |p| &p.recipes[0].source);
    let problems = &resolved.problems;
    if problems.iter().any(Diagnostic::is_error) && broken(problems) {
        return Err(refused(problems, name, args.shared.json));
    }
    show_problems(problems, name, env, args.shared.json)?;
    let Here { directory, settings } = here;
    match resolved {
        Resolved { program: Some(mut program), origin, problems, .. } => {
            rehearsal.change(&mut program);
            args.machine.refuse_for(&program)?;
            let substitutes = rehearsal.substitutes;
            Ok(Chosen { program, origin, directory, settings, problems, substitutes, secrets })
        }
        _ => Err(CommandError::bad_input(format!("{name} cannot be run"))),
    }
}

/// A run that is recorded and can be driven.
pub struct Ready {
    pub prepared: Prepared,
    pub config: Config,
    pub tree: Option<SessionTree>,
    pub worktree: Option<Worktree>,
}

/// Records a new run of what was chosen.
pub fn ready(
    env: &Environment,
    store: &mut Store,
    chosen: Chosen,
    args: &Args,
) -> Result<Ready, CommandError> {
    args.shared.events.check()?;
    let Chosen { program, origin, mut directory, settings, substitutes, secrets, .. } = chosen;
    let mut flags = args.agent.clone();
    if is_demo(origin, &program) {
        if args.worktree.is_some() {
            return Err(no_worktree());
        }
        directory = demo::prepare(env, &mut flags)?;
    }
    let (agents, tree, mut options) = agents::choose(env, &settings, &flags, &program)?;
    options.found = origin == Origin::Project;
    options.idle_timeout = args.shared.times.idle_timeout.or(settings.idle_timeout());
    if let Some(name) = &args.worktree {
        if name == "auto" {
            agents::refuse_moving(&settings, &flags, &program)?;
        }
        let entered = worktree::enter(env, &directory, name, &program.root().name)?;
        if !args.shared.quiet {
            entered.notes.iter().for_each(out::note);
        }
        directory = entered.directory;
        options.worktree = Some(entered.worktree);
    }
    let worktree = options.worktree.clone();
    let mut config = config(env, &settings, directory, agents, secrets.clone())?;
    config.substitutes = substitutes;
    config.idle_timeout = options.idle_timeout;
    hint_at_earlier(store, &program, &config.directory, args.shared.quiet)?;
    if !args.shared.quiet {
        missing_programs::warn(env, &program, &config.directory);
        other_runs::warn(env, store, &config.directory, None)?;
    }
    let cwd = config.directory.clone();
    let limits = config.limits;
    let name = program.root().name.clone();
    let created = towpath_engine::create(store, program, options, &cwd, limits, &secrets);
    if let Err(error) = &created {
        report::locked(&args.shared.events, &name, error)?;
    }
    if let (Err(_), Some(made)) = (&created, worktree.as_ref().filter(|w| w.made)) {
        // What refused the run is told; what cannot be removed stays for a person to look at.
        let _ = worktree::undo(made);
    }
    Ok(Ready { prepared: created?, config, tree, worktree })
}

pub fn no_worktree() -> CommandError {
    CommandError::bad_input("the demo has a repository of its own: leave --worktree out")
}

pub fn is_demo(origin: Origin, program: &Program) -> bool {
    origin == Origin::BuiltIn && program.root().name == "demo"
}

/// The exit code of a run that has ended, with its JSON where asked for.
pub fn conclude(
    env: &Environment,
    end: RunEnd,
    complete: Complete,
    store: &Store,
    look: &Look,
    shared: &Shared,
    left: Option<&Left>,
) -> Result<Exit, CommandError> {
    if shared.json {
        let exit = complete.exit(Exit::of_outcome(&end.outcome));
        let mut value = result(store, &end, exit, shared.with_context)?;
        if let Some(left) = left {
            value["worktree"] = left.json();
        }
        out::json(&value);
    }
    let directory = store.run(&end.id)?.map(|row| row.directory);
    report::ending(look, &end, directory.as_deref().unwrap_or(&env.current), &env.current);
    if let Some(left) = left.filter(|_| !shared.quiet) {
        left.lines(env).iter().for_each(out::note);
    }
    Ok(Exit::of_outcome(&end.outcome))
}

/// What is said of a recipe that is not there.
const NOWHERE: [&str; 3] = ["recipe-not-found", "bad-recipe-name", "unreadable"];

/// Draws what is wrong with a recipe; stops when something is.
pub fn show_problems(
    problems: &[Diagnostic],
    name: &str,
    env: &Environment,
    json: bool,
) -> Result<(), CommandError> {
    let errors = problems.iter().filter(|p| p.is_error()).count();
    let notable: Vec<Diagnostic> =
        problems.iter().filter(|p| p.severity > towpath_core::Severity::Note).cloned().collect();
    if !notable.is_empty() {
        diagnostics::draw(&notable, env.color);
    }
    if errors == 0 {
        return Ok(());
    }
    out::note(diagnostics::tally(problems, name));
    Err(refused(problems, name, json))
}

/// Whether it is about a recipe that is not there.
pub fn is_nowhere(problems: &[Diagnostic]) -> bool {
    problems.iter().any(|p| p.labels.is_empty() && NOWHERE.contains(&p.code))
}

/// The end of a run that never began; why has been told.
fn refused(problems: &[Diagnostic], name: &str, json: bool) -> CommandError {
    let tally = diagnostics::tally(problems, name);
    let message = if json {
        let first = problems.iter().find(|p| p.is_error());
        first.map_or(tally, |p| p.message.clone())
    } else {
        tally
    };
    let kind = if is_nowhere(problems) { "not-found" } else { "bad-recipe" };
    CommandError { shown: true, ..CommandError::new(Exit::BadInput, kind, message) }
}

pub fn config(
    env: &Environment,
    settings: &Settings,
    directory: PathBuf,
    agents: towpath_engine::Agents,
    secrets: Secrets,
) -> Result<Config, CommandError> {
    Ok(Config {
        directory,
        environment: secrets::environment(env, &secrets),
        bash: agents::bash(env)?,
        models: models::of_agents(env, &agents, settings),
        agents,
        directory_variables: beads::directory_variables(env),
        adapter: None,
        limits: Limits { agents: settings.max_agents.value },
        secrets,
        idle_timeout: None,
        grace: Duration::from_secs(5),
        warden: WardenStart::Fork,
        substitutes: Substitutes::default(),
    })
}

/// One line about an earlier run of this recipe here that could go on.
fn hint_at_earlier(
    store: &Store,
    program: &Program,
    directory: &Path,
    quiet: bool,
) -> Result<(), CommandError> {
    if quiet {
        return Ok(());
    }
    let filter = RunFilter {
        directory: Some(directory.to_owned()),
        recipe: Some(program.root().name.clone()),
        limit: Some(5),
        ..RunFilter::default()
    };
    for row in store.runs(&filter)? {
        let status = super::runs::status_of(store, &row);
        use RunStatus::{Asking, Failed, Interrupted, Stopped, Waiting};
        if matches!(status, Failed { .. } | Interrupted | Stopped | Waiting { .. } | Asking { .. })
        {
            let when = ago(row.created_ms, crate::terminal::format::now_ms());
            let known = towpath_engine::recorded(store, &row.id, Limits::default());
            let how = match known {
                Ok(known) => report::next_commands::resume(&row.id, &known.run),
                Err(_) => Some(format!("towpath show {}", row.id)),
            };
            let (id, name) = (&row.id, &row.recipe);
            if let Some(how) = how {
                let how = format!("to continue it: {how}");
                out::note(format!("note: run {id} of {name} {} {when}; {how}", status.as_str()));
            }
            return Ok(());
        }
        if status == RunStatus::Done {
            return Ok(());
        }
    }
    Ok(())
}

/// Names a backend that exists, or says which one was meant.
pub fn unknown_backend(name: &str, known: &[&str]) -> CommandError {
    let hint = nearest(name, known.iter().copied());
    let hint = hint.map_or_else(
        || format!("there are: {}", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    CommandError::setup(format!("no agent backend `{name}`: {hint}"))
}

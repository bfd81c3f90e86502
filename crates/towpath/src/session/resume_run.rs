//! Takes over a recorded run, and records that it is resumed and what changes for its rest. Its record
//! is replayed once, while its lock is ours. All that can refuse the resume comes before anything of
//! it is recorded.

use super::choose_agent::{self, AgentFlags};
use super::recipe_search_path::search_path;
use super::record_run::{RecordedRun, config};
use super::request_flags::SharedFlags;
use super::required_programs::RequiredPrograms;
use super::resolve_recipe::show_problems;
use super::state_machine_flags::LimitFlags;
use super::time_flags::LIMITS;
use super::waiting::{self, Waiting};
use super::{Session, other_runs, sandbox_for_steps, secret_flag, trust, worktree};
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::project_settings::settings_for;
use crate::settings::Settings;
use crate::terminal::out;
use crate::terminal::report::ReporterKind;
use crate::terminal::report::next_commands::{self, Raising};
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_core::{Secrets, StepPath};
use towpath_engine::{
    Agents, Changes, Confinement, EngineError, MetRequirements, Options, ResumeAnswers,
    SessionTree, TakenRun, recorded_options, take_over,
};
use towpath_recipe::{
    Edit, EditedRecipe, Origin, Plan, Program, Request, Resolved, RunOptions, edited, resolve,
};
use towpath_run::{Limits, Run};
use towpath_store::{RunRow, Store};

/// The flags of a resume.
#[derive(Debug, clap::Args)]
pub struct ResumeFlags {
    /// Wait until the agent's rate limit resets or its service answers again, then continue
    /// (default: exit 75 for a rate limit, 4 for a fault).
    #[arg(long)]
    pub wait: bool,
    /// How often the rate limit was met again without a step done. Set by --wait itself.
    #[arg(long, hide = true, requires = "wait", value_name = "N")]
    pub in_vain: Option<u32>,
    /// Do nothing, quietly, unless the run waits and has no owner. Set by --due.
    #[arg(long, hide = true)]
    pub if_waiting: bool,
    /// Treat this step as done, and do not run it. `towpath show` prints the paths of steps.
    #[arg(long, value_name = "STEP")]
    pub done: Vec<String>,
    /// The output of the step named by --done: text, or @FILE.
    #[arg(long, value_name = "TEXT|@FILE", requires = "done")]
    pub output: Option<String>,
    /// The outcome of the state machine's step named by --done.
    #[arg(long, value_name = "NAME", requires = "done")]
    pub outcome: Option<String>,
    /// Run this step and everything after it again.
    #[arg(long, value_name = "STEP")]
    pub again: Vec<String>,
    /// Use the edited recipe for steps that have not finished.
    #[arg(long)]
    pub edited: bool,
    /// Start a new agent session, with a summary of the finished steps: for a conversation that the
    /// agent has lost or that is too long. With --backend, another agent can take over.
    #[arg(long)]
    pub new_session: bool,
    /// Continue in this directory from now on: the same project, checked out at another path.
    #[arg(short = 'C', long = "working-dir", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    #[command(flatten)]
    pub agent: AgentFlags,
    #[command(flatten)]
    pub limits: LimitFlags,
    #[command(flatten)]
    pub shared: SharedFlags,
}

/// Takes over the run and records that it is resumed. None: with `--if-waiting`, another process owns
/// it or it does not wait any more.
pub fn resume<'a>(
    env: &'a Environment,
    mut store: Store,
    row: &RunRow,
    flags: &'a ResumeFlags,
) -> Result<Option<(Session<'a>, RecordedRun)>, CommandError> {
    let output = flags.output_text()?;
    let before = &row.directory;
    let row = &moved(env, row, flags)?;
    let settings = settings_for(env, &row.directory)?;
    let Some(owned) = own(env, &settings, &mut store, row, flags)? else { return Ok(None) };
    refuse_missing_directory(env, row, &owned.options)?;
    if flags.directory.is_some() {
        refuse_other_project(before, &row.directory, &owned)?;
    }
    let program = changed_program(flags, env, &settings, &mut store, &owned.taken, (before, row))?;
    if flags.directory.is_some() {
        store.move_run(&row.id, &row.directory)?;
    }
    let mut session = Session::new(env, store, &flags.shared, ReporterKind::Own)?;
    let to_run = program.as_ref().unwrap_or(owned.taken.run().program());
    let chosen = choose_agents(env, &settings, flags, &owned, to_run, &row.directory)?;
    let (requirements, sandbox) = requirements(env, flags, &owned, to_run)?;
    let OwnedRun { taken, options, secrets } = owned;
    let store = &mut session.store;
    if !flags.shared.quiet {
        other_runs::warn(env, store, &row.directory, Some(&row.id))?;
    }
    let failed_tries = flags.in_vain.unwrap_or(0);
    let waiting = flags.wait.then(|| Waiting::after(taken.run(), failed_tries, &flags.agent));
    let taken = match flags.waits_first(row) {
        true => waiting::until_due(taken, store, &row.id, failed_tries, &session.output)?,
        false => taken,
    };
    let backend = other_backend(&options, &chosen.options);
    let changes = Changes { program, backend, requirements, sandbox };
    let mut answer = |run: &Run| answers(run, flags, &output);
    let mut prepared = taken.resume(store, changes, &secrets, &mut answer)?;
    if flags.wait || flags.if_waiting {
        prepared.wait_after_faults(store, settings.retry_wait())?;
    }
    let ChosenAgents { agents, tree, options } = chosen;
    let mut config = config(env, &settings, row.directory.clone(), agents, secrets)?;
    config.idle_timeout = flags.shared.times.idle_timeout.or(options.idle_timeout);
    let worktree = options.worktree;
    let elsewhere = row.directory != env.current;
    Ok(Some((session, RecordedRun { prepared, config, tree, worktree, elsewhere, waiting })))
}

/// A recorded run that this process owns now.
struct OwnedRun {
    taken: TakenRun,
    /// As they are recorded.
    options: Options,
    secrets: Secrets,
}

fn own(
    env: &Environment,
    settings: &Settings,
    store: &mut Store,
    row: &RunRow,
    flags: &ResumeFlags,
) -> Result<Option<OwnedRun>, CommandError> {
    let limits = Limits { agents: settings.max_agents.value, ..LIMITS };
    let options = recorded_options(store, &row.id)?;
    let secrets = secret_flag::of_resume(env, &row.id, &options, &flags.shared.secret)?;
    let taken = match take_over(store, &row.id, limits, &secrets) {
        Err(EngineError::Owned { .. }) if flags.if_waiting => return Ok(None),
        taken => taken?,
    };
    if flags.if_waiting && !store.run(&row.id)?.is_some_and(|row| row.waits()) {
        return Ok(None);
    }
    Ok(Some(OwnedRun { taken, options, secrets }))
}

/// The agents for the rest of a run, and its options with what is asked for now.
struct ChosenAgents {
    agents: Agents,
    tree: Option<SessionTree>,
    options: Options,
}

fn choose_agents(
    env: &Environment,
    settings: &Settings,
    flags: &ResumeFlags,
    owned: &OwnedRun,
    program: &Program,
    directory: &Path,
) -> Result<ChosenAgents, CommandError> {
    let options = merged(owned.options.clone(), &flags.agent, env);
    if !flags.new_session {
        refuse_stranger(&owned.taken, &options)?;
    }
    let agent_flags = AgentFlags::from_options(&options);
    let (mut agents, tree, _) =
        choose_agent::choose(env, settings, &agent_flags, program, directory)?;
    if let Agents::Scripted { fresh, .. } = &mut agents {
        *fresh = owned.options.script.is_some() && owned.options.script != options.script;
    }
    Ok(ChosenAgents { agents, tree, options })
}

/// What the program requires of the machine: the programs that the run has used, and a sandbox.
fn requirements(
    env: &Environment,
    flags: &ResumeFlags,
    owned: &OwnedRun,
    program: &Program,
) -> Result<(MetRequirements, Option<Confinement>), CommandError> {
    let (flags, secrets) = (&flags.shared, &owned.secrets);
    let required = RequiredPrograms { env, flags, secrets, offers_install: true };
    let met = required.find(program, &owned.options.requirements)?;
    Ok((met, sandbox_for_steps::find(env, program, flags.quiet)?))
}

/// The run with the directory that it is to continue in.
fn moved(env: &Environment, row: &RunRow, flags: &ResumeFlags) -> Result<RunRow, CommandError> {
    let mut row = row.clone();
    if let Some(directory) = &flags.directory {
        let named = |e| CommandError::bad_input(format!("-C {}: {e}", directory.display()));
        row.directory = env.current.join(directory).canonicalize().map_err(named)?;
    }
    Ok(row)
}

/// Refuses a directory without the recipe that the run was started with in its own.
fn refuse_other_project(
    before: &Path,
    directory: &Path,
    owned: &OwnedRun,
) -> Result<(), CommandError> {
    if owned.options.worktree.is_some() {
        let why = "the run has a worktree of its own: -C cannot move it";
        return Err(CommandError::bad_input(why));
    }
    let path = owned.taken.run().program().plan.recipes[0].path.as_deref();
    let recipe = path.and_then(|path| Path::new(path).strip_prefix(before).ok());
    match recipe.filter(|recipe| !directory.join(recipe).is_file()) {
        None => Ok(()),
        Some(recipe) => Err(CommandError::setup(format!(
            "{} has no {}, with which the run was started: is it the same project?",
            directory.display(),
            recipe.display(),
        ))),
    }
}

fn refuse_missing_directory(
    env: &Environment,
    row: &RunRow,
    options: &Options,
) -> Result<(), CommandError> {
    if row.directory.is_dir() {
        return Ok(());
    }
    let gone = row.directory.display();
    let worktree = options.worktree.as_ref();
    let hint = worktree.map_or_else(
        || format!("; in another checkout: towpath resume {} -C DIR", row.id),
        |worktree| worktree::restore_hint(worktree, env),
    );
    Err(CommandError::setup(format!("the run's directory {gone} is gone{hint}")))
}

impl ResumeFlags {
    /// Whether there is something to wait for before the first try. A user who answers a question or
    /// types the command for a rate limit without a known end wants to continue now.
    fn waits_first(&self, row: &RunRow) -> bool {
        let answers =
            !self.done.is_empty() || !self.again.is_empty() || self.edited || self.new_session;
        let known = self.in_vain.is_some() || row.summary.status.waits_until().is_some();
        self.wait && !answers && known && row.waits()
    }

    /// The output of the step that is declared done.
    fn output_text(&self) -> Result<String, CommandError> {
        if (self.output.is_some() || self.outcome.is_some()) && self.done.len() > 1 {
            let why = "--output and --outcome are for one step: give exactly one --done with them";
            return Err(CommandError::bad_input(why));
        }
        if let Some(step) = self.done.iter().find(|step| self.again.contains(step)) {
            let why = format!("{step} is given to both --done and --again");
            return Err(CommandError::bad_input(why));
        }
        let given = self.output.as_deref().unwrap_or_default();
        let Some(file) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
        let text = files::read_text(Path::new(file), files::MOST_TEXT)
            .map_err(|e| CommandError::bad_input(format!("--output @{file}: {e}")))?;
        Ok(text.trim_end_matches('\n').to_owned())
    }
}

fn answers(run: &Run, flags: &ResumeFlags, output: &str) -> Result<ResumeAnswers, EngineError> {
    let new_session = flags.new_session;
    let mut answers = ResumeAnswers { new_session, ..ResumeAnswers::default() };
    for name in &flags.done {
        answers.add_done(run, name, output, flags.outcome.as_deref())?;
    }
    for name in &flags.again {
        answers.add_again(run, name)?;
        let steps = run.rerun_steps(&run.find_step(name)?)?;
        let steps: Vec<&str> = steps.iter().map(StepPath::as_str).collect();
        if !flags.shared.quiet {
            out::note(format!("runs again: {}", steps.join(", ")));
        }
    }
    Ok(answers)
}

/// The program for the rest of the run, where it differs from the recorded one.
fn changed_program(
    flags: &ResumeFlags,
    env: &Environment,
    settings: &Settings,
    store: &mut Store,
    taken: &TakenRun,
    (before, row): (&Path, &RunRow),
) -> Result<Option<Program>, CommandError> {
    let recorded = taken.run().program();
    let moved = moved_plan(&recorded.plan, before, &row.directory);
    let edited = edits(flags, env, settings, store, taken, (&moved, row))?;
    refuse_reached_limit(flags, taken)?;
    let program = edited.as_ref().unwrap_or(recorded);
    let mut plan: Plan = edited.as_ref().map_or(moved, |edited| (*edited.plan).clone());
    if !flags.limits.is_empty() {
        if !recorded.recipes.iter().any(|recipe| recipe.machine().is_some()) {
            let why = "--max-visits, --max-steps and --max-restarts are for state machines, and this \
                       run has none";
            return Err(CommandError::bad_input(why));
        }
        flags.limits.over(&mut plan.machine);
    }
    plan.step_timeout = flags.shared.times.step_timeout.or(plan.step_timeout);
    let unchanged = edited.is_none() && plan == *recorded.plan;
    let recipes = program.recipes.clone();
    Ok((!unchanged).then(|| Program::new(plan, recipes)))
}

/// The plan of a run that continues in another directory: its files are the ones there.
fn moved_plan(plan: &Plan, before: &Path, now: &Path) -> Plan {
    let mut plan = plan.clone();
    for recipe in &mut plan.recipes {
        let inner =
            recipe.path.as_deref().and_then(|path| Path::new(path).strip_prefix(before).ok());
        if let Some(path) = inner.map(|inner| now.join(inner)) {
            recipe.path = Some(path.display().to_string());
        }
    }
    plan
}

/// A run that ended at a guardrail continues with a higher one only.
fn refuse_reached_limit(flags: &ResumeFlags, taken: &TakenRun) -> Result<(), CommandError> {
    // Another text of the recipe may have another guardrail.
    let run = taken.run();
    let stuck = next_commands::raising(run).filter(|_| flags.again.is_empty() && !flags.edited);
    let Some(Raising { reason, flag }) = stuck else { return Ok(()) };
    let reached = run.reached_limit().unwrap_or(0);
    let how = match flags.limits.of(flag) {
        Some(limit) if limit > reached => return Ok(()),
        _ if flag == "--again STEP" => "run from an earlier step".to_owned(),
        Some(_) => format!("raise the limit above {reached}"),
        None => "raise the limit".to_owned(),
    };
    let message = format!("{reason}: to continue, {how}: {flag}");
    Err(CommandError::new(Exit::Limit, ErrorKind::Limit, message))
}

/// Reports what was edited since; reads the new recipe where it is asked for.
fn edits(
    flags: &ResumeFlags,
    env: &Environment,
    settings: &Settings,
    store: &mut Store,
    taken: &TakenRun,
    (old, row): (&Plan, &RunRow),
) -> Result<Option<Program>, CommandError> {
    let changed = edited(old);
    if !changed.is_empty() && !flags.shared.quiet {
        for edit in &changed {
            out::note(format!("note: {}", edit_line(edit)));
        }
        if !flags.edited {
            let new = match next_commands::can_take_edit(taken.run(), old) {
                true => "--edited uses the new one",
                false => "only a new run can use the new one",
            };
            out::note(format!("      the run continues with the recorded text; {new}"));
        }
    }
    if !flags.edited {
        return Ok(None);
    }
    let Some(path) = &old.recipes[0].path else {
        return Err(CommandError::bad_input("a built-in recipe cannot have been edited"));
    };
    let near = Path::new(path).strip_prefix(&env.current);
    let request = Request {
        reference: near.map_or(path.clone(), |p| format!("./{}", p.display())),
        working_dir: row.directory.clone(),
        search: search_path(env, settings, &[], &row.directory)?,
        inputs: old.inputs.clone(),
        run_options: RunOptions {
            tags: old.tags.clone(),
            no_auto_stage: old.no_auto_stage,
            machine: old.machine.clone(),
            step_timeout: old.step_timeout,
            dialect: old.dialect,
            home: old.home.clone(),
            to_run: true,
        },
    };
    let Resolved { program, problems, .. } = resolve(&request);
    show_problems(&problems, path, env, flags.shared.json)?;
    let program =
        program.ok_or_else(|| CommandError::bad_input(format!("{path} cannot be run")))?;
    if taken.options().found {
        trust::consent(env, store, &program, Origin::Project)?;
    }
    Ok(Some(program))
}

/// What happened to a recipe's file, in a line.
fn edit_line(recipe: &EditedRecipe) -> String {
    let name = &recipe.source;
    match &recipe.edit {
        Edit::Gone(why) => format!("{name} cannot be read any more: {why}"),
        Edit::Broken(why) => format!("{name} was edited and is not valid: {why}"),
        Edit::Steps { changed, added, removed } => {
            let parts: Vec<String> = [("changed", changed), ("new", added), ("removed", removed)]
                .into_iter()
                .filter(|(_, steps)| !steps.is_empty())
                .map(|(word, steps)| format!("{word}: {}", steps.join(", ")))
                .collect();
            match parts.is_empty() {
                true => format!("{name} was edited outside its steps"),
                false => format!("{name} was edited since ({})", parts.join("; ")),
            }
        }
    }
}

/// The backend that any conversation can continue with: it has none.
const SCRIPTED: &str = "scripted";

/// A machine's conversation is known to the program that has had it, and to no other.
fn refuse_stranger(taken: &TakenRun, now: &Options) -> Result<(), CommandError> {
    let begun = taken.run().machine_view().is_some_and(|machine| machine.session_created);
    match (&taken.options().backend, &now.backend) {
        (Some(before), Some(now)) if begun && before != now && now != SCRIPTED => {
            let why = format!(
                "the conversation of this run is {before}'s, and {now} does not know it: resume \
                 without --backend, or add --new-session"
            );
            Err(CommandError::new(Exit::Setup, ErrorKind::BackendCannot, why))
        }
        _ => Ok(()),
    }
}

/// A backend that replaces the run's own, so that a later resume asks the same one. A script is for
/// one resume.
fn other_backend(known: &Options, now: &Options) -> Option<(String, Option<String>)> {
    let backend = now.backend.as_ref().filter(|backend| *backend != SCRIPTED)?;
    let same = known.backend.as_ref() == Some(backend);
    (!same).then(|| (backend.clone(), now.program.clone()))
}

/// The run's own options, with what is asked for now over them.
fn merged(mut options: Options, flags: &AgentFlags, env: &Environment) -> Options {
    let absolute = |p: &PathBuf| env.current.join(env.expand_home(p)).display().to_string();
    let scripted = || flags.script.as_ref().map(|_| SCRIPTED.to_owned());
    let named = flags.named_program(env);
    if flags.backend.as_ref().is_some_and(|backend| options.backend.as_ref() != Some(backend)) {
        // It is another backend's program.
        options.program = None;
    }
    Options {
        backend: flags.backend.clone().or_else(scripted).or(options.backend),
        script: flags.script.as_ref().map(absolute).or(options.script),
        calls: flags.calls.as_ref().map(absolute).or(options.calls),
        secrets: options.secrets,
        program: named.map(|path| path.display().to_string()).or(options.program),
        found: options.found,
        idle_timeout: options.idle_timeout,
        worktree: options.worktree,
        requirements: options.requirements,
        sandbox: options.sandbox,
    }
}

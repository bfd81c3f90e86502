//! `towpath resume`: goes on with a run. Work that is recorded as finished is never run again
//! unless a person says so.

mod due;

use super::Execute;
use super::run::{Shared, conclude, config};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::files;
use crate::session::agents::{self, AgentFlags};
use crate::session::audit::{Audit, audited};
use crate::session::machine_flags::LimitFlags;
use crate::session::other_runs;
use crate::session::secrets;
use crate::session::trust;
use crate::session::wait;
use crate::session::worktree;
use crate::terminal::out;
use crate::terminal::report::next_commands::{self, Raising};
use crate::terminal::report::{self, Look};
use std::path::{Path, PathBuf};
use towpath_core::{RunId, StepPath};
use towpath_engine::{Agents, Changes, EngineError, Options, Recorded, ResumeAnswers, recorded};
use towpath_recipe::{Edit, EditedRecipe, Origin, Plan, Request, Wishes, edited, resolve};
use towpath_run::{Limits, Run};
use towpath_store::{Found, RunRow, Store};

/// Go on with a run that failed, was stopped or was cut off.
///
/// What is recorded as finished stays finished. What was in flight runs once more, unless its
/// step is marked `effect: once`: then you say what became of it with --done or --again.
///
/// Example: towpath resume 7f3k
///
/// In a crontab, for runs that wait for a limit: */10 * * * * towpath resume --due --quiet
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id; a unique beginning is enough.
    #[arg(required_unless_present_any = ["last", "due"])]
    pub run: Option<String>,
    /// The latest run in this directory.
    #[arg(long, conflicts_with = "run")]
    pub last: bool,
    /// Every waiting run whose time has come, one after the other, wherever it was started. A rate
    /// limit without a known end is tried after 15 minutes. An overloaded agent or a refused login
    /// leaves the run waiting for the next try. Nothing is asked.
    #[arg(long, conflicts_with_all = [
        "run", "last", "done", "again", "edited", "wait", "backend", "script", "calls", "program",
        "new_session",
    ])]
    pub due: bool,
    /// Wait until the agent's rate limit resets or its service answers again, then continue
    /// (default: exit 75 at a limit, 4 at a fault).
    #[arg(long)]
    pub wait: bool,
    /// How often the limit was met again without a step done. Given by --wait to itself.
    #[arg(long, hide = true, requires = "wait", value_name = "N")]
    pub in_vain: Option<u32>,
    /// Do nothing, quietly, unless the run waits and nobody has it. Given by --due.
    #[arg(long, hide = true)]
    pub if_waiting: bool,
    /// This step is done: do not run it. Its path is what `towpath show` prints.
    #[arg(long, value_name = "STEP")]
    pub done: Vec<String>,
    /// The output of the step named by --done: text, or @FILE.
    #[arg(long, value_name = "TEXT|@FILE", requires = "done")]
    pub output: Option<String>,
    /// What the machine's step named by --done has reported: one of its outcomes.
    #[arg(long, value_name = "NAME", requires = "done")]
    pub outcome: Option<String>,
    /// Run this step, and everything after it, anew.
    #[arg(long, value_name = "STEP")]
    pub again: Vec<String>,
    /// Take the recipe as it is now for steps that have not finished.
    #[arg(long)]
    pub edited: bool,
    /// Begin a new agent session, with a summary of the finished steps. For a conversation that the
    /// agent has lost or that is too long. With --backend another agent can take over.
    #[arg(long)]
    pub new_session: bool,
    #[command(flatten)]
    pub agent: AgentFlags,
    #[command(flatten)]
    pub limits: LimitFlags,
    #[command(flatten)]
    pub shared: Shared,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        if self.due {
            return due::execute(self, invocation.environment()?);
        }
        let env = invocation.environment()?;
        let mut store = Store::open(&env.directories.state)?;
        let row = match &self.run {
            Some(name) => find(&store, name)?,
            None => latest(&store, env)?,
        };
        let settings = trust::settings_for(env, &row.directory)?;
        let limits = Limits { agents: settings.max_agents.value };
        let known = recorded(&store, &row.id, limits)?;
        let done = known.run.outcome() == Some(towpath_run::RunOutcome::Done);
        if known.run.is_ended() && done && self.again.is_empty() {
            return already_done(&row.id, self);
        }
        let secrets = secrets::of_resume(env, &row.id, &known.options, &self.shared.secret)?;
        let plan = edits(self, env, &settings, &mut store, &known, &row)?;
        let plan = raised(self, &known, plan)?;
        let plan = timed(plan, self, &known.run.program().plan);
        let output = output_text(self.output.as_deref())?;
        if (self.output.is_some() || self.outcome.is_some()) && self.done.len() > 1 {
            let why = "--output and --outcome belong to one step: give one --done with them";
            return Err(CommandError::bad_input(why));
        }
        if let Some(step) = self.done.iter().find(|step| self.again.contains(step)) {
            return Err(CommandError::bad_input(format!(
                "{step} cannot be both done and run again"
            )));
        }
        if !row.directory.is_dir() {
            let gone = row.directory.display();
            let worktree = known.options.worktree.as_ref();
            let back = worktree.map_or(String::new(), |worktree| worktree::back(worktree, env));
            return Err(CommandError::setup(format!("the run's directory {gone} is gone{back}")));
        }
        let mut audit = Audit::in_directory(env, self.shared.audit_dir.as_deref())?;
        self.shared.events.check()?;
        // Whatever could refuse the resume comes before anything of it is recorded.
        let options = merged(known.options.clone(), &self.agent, env);
        if !self.new_session {
            refuse_stranger(&known, &options)?;
        }
        let flags = AgentFlags::from_options(&options);
        let recorded_program = std::sync::Arc::clone(known.run.program());
        let mut chosen = Some(agents::choose(env, &settings, &flags, &recorded_program)?);
        if plan.is_some() {
            // What another plan asks for is found out when it is taken.
            chosen = None;
        }
        let look = Look::new(env, &self.shared);
        if !self.shared.quiet {
            other_runs::warn(env, &store, &row.directory, Some(&row.id))?;
        }
        if waits_first(self, &row) {
            wait::sit_out(&mut store, &row.id, self.in_vain.unwrap_or(0), &look)?;
        }
        let state = &env.directories.state;
        let mut answer = |run: &Run| {
            if self.if_waiting && !still_waits(state, &row.id)? {
                return Err(EngineError::Answer(format!("run {} does not wait any more", row.id)));
            }
            answers(run, self, &output)
        };
        let changes = Changes { plan, backend: other_backend(&known.options, &options) };
        let taken =
            towpath_engine::resume(&mut store, &row.id, limits, changes, &secrets, &mut answer);
        let mut prepared = match taken {
            Ok((prepared, _)) => prepared,
            Err(EngineError::Held { .. } | EngineError::Answer(_)) if self.if_waiting => {
                return Ok(Exit::Done);
            }
            Err(error) => return Err(error.into()),
        };
        if self.wait || self.if_waiting {
            prepared.be_patient(&mut store, settings.retry_wait())?;
        }
        let program = std::sync::Arc::clone(prepared.run().program());
        // A script may come from a pipe, which is read once.
        let (mut agents, tree, _) = match chosen {
            Some(chosen) => chosen,
            None => agents::choose(env, &settings, &flags, &program)?,
        };
        if let Agents::Scripted { fresh, .. } = &mut agents {
            *fresh = known.options.script.is_some() && known.options.script != options.script;
        }
        let mut config = config(env, &settings, row.directory.clone(), agents, secrets)?;
        config.idle_timeout = self.shared.times.idle_timeout.or(options.idle_timeout);
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
            let vain = wait::vain(&known.run, &driven.end, self.in_vain.unwrap_or(0));
            wait::go_on(&row.id, vain, &self.agent, &self.shared);
        }
        let worktree = options.worktree.clone();
        let left = worktree.map(|worktree| worktree::leave(env, &store, &driven.end, worktree));
        audited(audit, driven, |end, complete| {
            conclude(env, end, complete, &store, &look, &self.shared, left.as_ref())
        })
    }

    fn json(&self) -> bool {
        self.shared.json
    }
}

/// Whether there is something to wait for before the first try. A person who answers a question
/// or types the command for a limit without an end wants to go on now.
fn waits_first(args: &Args, row: &RunRow) -> bool {
    let answers =
        !args.done.is_empty() || !args.again.is_empty() || args.edited || args.new_session;
    let known = args.in_vain.is_some() || row.summary.status.waits_until().is_some();
    args.wait && !answers && known && row.waits()
}

/// Asked by the run's owner, before the record says otherwise.
fn still_waits(state: &Path, id: &RunId) -> Result<bool, EngineError> {
    let store = Store::open_for_reading(state)?;
    let row = store.map_or(Ok(None), |store| store.run(id))?;
    Ok(row.is_some_and(|row| row.waits()))
}

fn already_done(id: &RunId, args: &Args) -> Result<Exit, CommandError> {
    let mut flags = vec![
        ("--done", !args.done.is_empty()),
        ("--edited", args.edited),
        ("--new-session", args.new_session),
    ];
    flags.extend(args.limits.given());
    if let Some((flag, _)) = flags.iter().find(|(_, given)| *given) {
        return Err(CommandError::bad_input(format!(
            "run {id} is done, and {flag} changes nothing any more; to run a step of it and what \
             follows anew: towpath resume {id} --again STEP"
        )));
    }
    let message = format!(
        "run {id} is done; to run a step of it and what follows anew: towpath resume {id} --again STEP"
    );
    if args.shared.json {
        return Err(CommandError::new(Exit::Done, "already-done", message));
    }
    out::note(message);
    Ok(Exit::Done)
}

/// Finds a run by a unique beginning of its id.
pub fn find(store: &Store, name: &str) -> Result<RunRow, CommandError> {
    match store.find(name)? {
        Found::One(row) => Ok(*row),
        Found::None => Err(CommandError::bad_input(format!(
            "there is no run {name}; `towpath runs` lists them"
        ))),
        Found::Many(ids) => {
            let ids: Vec<String> = ids.iter().take(8).map(ToString::to_string).collect();
            Err(CommandError::bad_input(format!("`{name}` could be any of {}", ids.join(", "))))
        }
    }
}

fn latest(store: &Store, env: &Environment) -> Result<RunRow, CommandError> {
    store.latest(Some(&env.current))?.ok_or_else(|| {
        CommandError::bad_input(
            "no run was started in this directory; `towpath runs --all` lists all",
        )
    })
}

fn answers(run: &Run, args: &Args, output: &str) -> Result<ResumeAnswers, EngineError> {
    let new_session = args.new_session;
    let mut answers = ResumeAnswers { new_session, ..ResumeAnswers::default() };
    for name in &args.done {
        answers.add_done(run, name, output, args.outcome.as_deref())?;
    }
    for name in &args.again {
        answers.add_again(run, name)?;
        let anew = run.rerun_steps(&run.find_step(name)?)?;
        let anew: Vec<&str> = anew.iter().map(StepPath::as_str).collect();
        if !args.shared.quiet {
            out::note(format!("runs anew: {}", anew.join(", ")));
        }
    }
    Ok(answers)
}

fn output_text(given: Option<&str>) -> Result<String, CommandError> {
    let Some(given) = given else { return Ok(String::new()) };
    let Some(file) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
    let text = files::read_text(Path::new(file), files::MOST_TEXT)
        .map_err(|e| CommandError::bad_input(format!("--output @{file}: {e}")))?;
    Ok(text.trim_end_matches('\n').to_owned())
}

/// Says what was edited since; gives the new plan where it is asked for.
fn edits(
    args: &Args,
    env: &Environment,
    settings: &crate::settings::Settings,
    store: &mut Store,
    known: &Recorded,
    row: &RunRow,
) -> Result<Option<Plan>, CommandError> {
    let old = &known.run.program().plan;
    let changed = edited(old);
    if !changed.is_empty() && !args.shared.quiet {
        for edit in &changed {
            out::note(format!("note: {}", told(edit)));
        }
        if !args.edited {
            out::note("      the run goes on with the recorded text; --edited takes the new one");
        }
    }
    if !args.edited {
        return Ok(None);
    }
    let Some(path) = &old.recipes[0].path else {
        return Err(CommandError::bad_input("a built-in recipe cannot have been edited"));
    };
    let near = std::path::Path::new(path).strip_prefix(&env.current);
    let request = Request {
        reference: near.map_or(path.clone(), |p| format!("./{}", p.display())),
        working_dir: row.directory.clone(),
        search: crate::session::search_path::search_path(env, settings, &[], &row.directory)?,
        inputs: old.inputs.clone(),
        wishes: Wishes {
            tags: old.tags.clone(),
            no_auto_stage: old.no_auto_stage,
            machine: old.machine.clone(),
            step_timeout: old.step_timeout,
            to_run: true,
        },
    };
    let resolved = resolve(&request);
    super::run::show_problems(&resolved.problems, path, env, args.shared.json)?;
    if let (Some(program), true) = (&resolved.program, known.options.found) {
        trust::consent(env, store, program, Origin::Project)?;
    }
    Ok(resolved.plan)
}

/// The plan with other limits for its machines. What ended at a limit goes on with a higher one only.
fn raised(args: &Args, known: &Recorded, plan: Option<Plan>) -> Result<Option<Plan>, CommandError> {
    // Another text of the recipe may have another limit.
    let stuck =
        next_commands::raising(&known.run).filter(|_| args.again.is_empty() && !args.edited);
    if let Some(Raising { reason, flag }) = stuck {
        let reached = known.run.reached_limit().unwrap_or(0);
        let how = match args.limits.of(flag) {
            Some(limit) if limit > reached => None,
            _ if flag == "--again STEP" => Some("go back to a step".to_owned()),
            Some(_) => Some(format!("raise the limit above {reached}")),
            None => Some("raise the limit".to_owned()),
        };
        if let Some(how) = how {
            let message = format!("{reason}: {how} to go on: {flag}");
            return Err(CommandError::new(Exit::Limit, "limit", message));
        }
    }
    if args.limits.is_empty() {
        return Ok(plan);
    }
    let program = known.run.program();
    if !program.recipes.iter().any(|recipe| recipe.machine().is_some()) {
        return Err(CommandError::bad_input("limits of machines: this run has no machine"));
    }
    let mut plan = plan.unwrap_or_else(|| (*program.plan).clone());
    args.limits.over(&mut plan.machine);
    Ok(Some(plan))
}

/// The plan with another time for its calls, where one is asked for.
fn timed(plan: Option<Plan>, args: &Args, old: &Plan) -> Option<Plan> {
    let wish = args.shared.times.step_timeout;
    let plan = plan.or_else(|| (wish.is_some() && wish != old.step_timeout).then(|| old.clone()));
    plan.map(|plan| Plan { step_timeout: wish.or(plan.step_timeout), ..plan })
}

/// What became of a recipe's file, in a line.
fn told(recipe: &EditedRecipe) -> String {
    let name = &recipe.source;
    match &recipe.edit {
        Edit::Gone(why) => format!("{name} cannot be read any more: {why}"),
        Edit::Broken(why) => format!("{name} was edited and is not valid now: {why}"),
        Edit::Steps { changed, added, removed } => {
            let parts: Vec<String> = [("changed", changed), ("new", added), ("gone", removed)]
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

/// The backend that any conversation can go on with: it has none.
const SCRIPTED: &str = "scripted";

/// A machine's conversation is known to the program that has had it, and to no other.
fn refuse_stranger(known: &Recorded, now: &Options) -> Result<(), CommandError> {
    let begun = known.run.machine_view().is_some_and(|machine| machine.session_created);
    match (&known.options.backend, &now.backend) {
        (Some(before), Some(now)) if begun && before != now && now != SCRIPTED => {
            let why = format!(
                "the conversation of this run is {before}'s, and {now} does not know it: resume \
                 without --backend, or add --new-session"
            );
            Err(CommandError::new(Exit::Setup, "backend-cannot", why))
        }
        _ => Ok(()),
    }
}

/// A backend that takes the place of the run's own, so that a later resume asks the same one. A
/// script is for one resume.
fn other_backend(known: &Options, now: &Options) -> Option<(String, Option<String>)> {
    let backend = now.backend.as_ref().filter(|backend| *backend != SCRIPTED)?;
    let same = known.backend.as_ref() == Some(backend);
    (!same).then(|| (backend.clone(), now.program.clone()))
}

/// The run's own options, with what this call says over them.
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
    }
}

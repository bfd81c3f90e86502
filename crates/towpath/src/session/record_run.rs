//! Records a new run with its agents, its directory and all that its steps get, so that it can be
//! driven.

use super::called_as::CalledAs;
use super::choose_agent;
use super::drive_run::report_locked;
use super::request_flags::RunFlags;
use super::required_programs::RequiredPrograms;
use super::resolve_recipe::ChosenRecipe;
use super::time_flags::LIMITS;
use super::waiting::Waiting;
use super::{
    Session, beads_database, demo_repository, map_model_tiers, missing_programs, other_runs,
    sandbox_for_steps, secret_flag, worktree,
};
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::settings::Settings;
use crate::terminal::out;
use std::path::PathBuf;
use towpath_core::Secrets;
use towpath_engine::{
    Agents, Config, GRACE, MetRequirements, Options, Prepared, SessionTree, Substitutes,
    WardenStart, Worktree,
};
use towpath_recipe::{Origin, Program};
use towpath_run::Limits;

/// A run that is recorded and can be driven.
pub struct RecordedRun {
    pub prepared: Prepared,
    pub config: Config,
    pub tree: Option<SessionTree>,
    pub worktree: Option<Worktree>,
    /// It does not run in the current directory, which the user is shown.
    pub elsewhere: bool,
    /// With `--wait`: how to continue where an agent lets the run wait.
    pub waiting: Option<Waiting>,
}

impl Session<'_> {
    /// Records a new run of a recipe.
    pub fn record(
        &mut self,
        chosen: ChosenRecipe,
        flags: &RunFlags,
    ) -> Result<RecordedRun, CommandError> {
        let (env, store) = (self.env, &mut self.store);
        let quiet = flags.shared.quiet;
        let ChosenRecipe { program, origin, mut directory, settings, substitutes, secrets, .. } =
            chosen;
        // The demo's repository is no directory of the user.
        let elsewhere = directory != env.current && !is_demo(origin, &program);
        let mut agent_flags = flags.agent.clone();
        if is_demo(origin, &program) {
            if flags.worktree.is_some() {
                return Err(no_worktree());
            }
            directory = demo_repository::prepare(env, &mut agent_flags)?;
        }
        let (agents, tree, mut options) =
            choose_agent::choose(env, &settings, &agent_flags, &program, &directory)?;
        options.found = origin == Origin::Project;
        meet_requirements(env, flags, &program, &secrets, &mut options)?;
        options.idle_timeout = flags.shared.times.idle_timeout.or(settings.idle_timeout());
        if let Some(name) = &flags.worktree {
            if name == "auto" {
                choose_agent::refuse_moving(&settings, &agent_flags, &program)?;
            }
            let entered = worktree::enter(env, &directory, name, &program.root().name)?;
            if !quiet {
                entered.notes.iter().for_each(out::note);
            }
            directory = entered.directory;
            options.worktree = Some(entered.worktree);
        }
        let worktree = options.worktree.clone();
        let mut config = config(env, &settings, directory, agents, secrets)?;
        config.substitutes = substitutes;
        config.idle_timeout = options.idle_timeout;
        if !quiet {
            other_runs::hint_at_earlier(store, &program, &config.directory)?;
            missing_programs::warn(env, &program, &config.directory);
            other_runs::warn(env, store, &config.directory, None)?;
        }
        let name = program.root().name.clone();
        let Config { directory, limits, secrets, .. } = &config;
        let created = towpath_engine::create(store, program, options, directory, *limits, secrets);
        if let Err(error) = &created {
            report_locked(&flags.shared.events, &name, error)?;
            if let Some(made) = worktree.as_ref().filter(|worktree| worktree.made) {
                // What refused the run is reported; what cannot be removed stays for the user.
                let _ = worktree::undo(made);
            }
        }
        let mut prepared = created?;
        if flags.wait {
            prepared.wait_after_faults(store, settings.retry_wait())?;
        }
        let waiting = flags.wait.then(Waiting::default);
        Ok(RecordedRun { prepared, config, tree, worktree, elsewhere, waiting })
    }
}

/// Finds what the program requires of the machine, before anything is recorded.
fn meet_requirements(
    env: &Environment,
    flags: &RunFlags,
    program: &Program,
    secrets: &Secrets,
    options: &mut Options,
) -> Result<(), CommandError> {
    let offers_install = flags.called_as == CalledAs::Towpath;
    let required = RequiredPrograms { env, flags: &flags.shared, secrets, offers_install };
    options.requirements = required.find(program, &MetRequirements::default())?;
    options.sandbox = sandbox_for_steps::find(env, program, flags.shared.quiet)?;
    Ok(())
}

pub fn no_worktree() -> CommandError {
    CommandError::bad_input("the demo has a repository of its own: leave out --worktree")
}

pub fn is_demo(origin: Origin, program: &Program) -> bool {
    origin == Origin::BuiltIn && program.root().name == "demo"
}

pub fn config(
    env: &Environment,
    settings: &Settings,
    directory: PathBuf,
    agents: Agents,
    secrets: Secrets,
) -> Result<Config, CommandError> {
    Ok(Config {
        directory,
        environment: secret_flag::environment(env, &secrets),
        bash: choose_agent::bash(env)?,
        models: map_model_tiers::of_agents(env, &agents, settings),
        agents,
        directory_variables: beads_database::directory_variables(env),
        adapter: None,
        limits: Limits { agents: settings.max_agents.value, ..LIMITS },
        secrets,
        idle_timeout: None,
        grace: GRACE,
        warden: WardenStart::Fork,
        text_if_killed: None,
        substitutes: Substitutes::default(),
    })
}

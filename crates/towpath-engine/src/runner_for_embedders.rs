//! The front for whoever embeds the engine: everything a run needs in one builder, one call to run,
//! one to resume. It is the same engine, journal and rules as the program's; what the program reads
//! from its environment is given here.

use crate::agents::Agents;
use crate::config::{Config, GRACE};
use crate::controller::Controller;
use crate::drive::refuse_unavailable;
use crate::driver::RunEnd;
use crate::error::EngineError;
use crate::models::Models;
use crate::own_warden::own_warden;
use crate::parse_recipe::Problems;
use crate::prepared::{Changes, Prepared, create, take_over};
use crate::recipe_result::{RecipeResult, recipe_result};
use crate::required_programs::{
    MetRequirements, ProgramsOnPath, RequirementChecker, check_requirements,
};
use crate::resume_answers::ResumeAnswers;
use crate::run_event_listener::{Listener, Listening, NullListener};
use crate::sandboxed_steps::find_sandbox;
use crate::stored_run_options::Options;
use crate::substitutes::Substitutes;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use towpath_core::{Map, Secrets, Value};
use towpath_executor::{
    Adapter, Backend, Confinement, DirectoryVariables, WardenStart, own_executable,
};
use towpath_recipe::{
    Origin, Program, Request, Resolved, RunOptions, SearchDir, SearchPath, Tags, resolve,
};
use towpath_run::{Limits, Run, RunOutcome};
use towpath_store::{Found, RunRow, Store, StoreError};

/// Why there is no result. A recipe whose step has failed has one, with that failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recipe, or one that it calls, cannot be run.
    #[error("{0}")]
    Recipe(#[from] Problems),
    #[error("the recipe asks agents: give the runner an adapter or a backend")]
    NoAgent,
    #[error("call towpath_engine::init first in main, or name a warden program")]
    NoWarden,
    /// It was found in the working tree, whose author nobody has vouched for.
    #[error("{} was only found in the working tree: name its file, or trust the tree", path.display())]
    NotTrusted { path: PathBuf },
    #[error("{}: {error}", path.display())]
    Directory { path: PathBuf, error: std::io::Error },
    #[error("there is no run {0}")]
    NoSuchRun(String),
    #[error("{name} could be any of {}", .candidates.join(", "))]
    Ambiguous { name: String, candidates: Vec<String> },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        Error::Engine(error.into())
    }
}

/// What the user states about a step when a run is resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is done: do not run it. This is its output.
    Done {
        step: String,
        output: String,
        /// What a machine's step reported; none for any other.
        outcome: Option<String>,
    },
    /// Run it again, and everything after it.
    Again { step: String },
}

/// Runs recipes, and records every run in its state directory.
///
/// Nothing is taken from the process's environment: without [`environment`](Runner::environment) the steps
/// have an empty one, without [`search`](Runner::search) only files and built-in recipes are found.
pub struct Runner {
    state: PathBuf,
    directory: PathBuf,
    search: SearchPath,
    inputs: Map,
    run_options: RunOptions,
    trusts_tree: bool,
    environment: Vec<(OsString, OsString)>,
    bash: Option<PathBuf>,
    adapter: Option<Arc<dyn Adapter>>,
    backend: Option<Arc<dyn Backend>>,
    requirements: Option<Box<dyn RequirementChecker>>,
    limits: Limits,
    grace: Duration,
    warden: Option<WardenStart>,
    listener: Box<dyn Listener>,
    on_start: Box<dyn FnMut(Controller)>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Runner");
        shown.field("state", &self.state).field("directory", &self.directory);
        shown.field("adapter", &self.adapter).field("inputs", &self.inputs);
        shown.finish_non_exhaustive()
    }
}

impl Runner {
    /// `state` is where runs are recorded; it is made if it is not there. The program's own
    /// (`~/.local/state/towpath`) may be named: then `towpath runs` shows these runs too.
    pub fn new(state: impl Into<PathBuf>) -> Runner {
        Runner {
            state: state.into(),
            directory: PathBuf::from("."),
            search: SearchPath::default(),
            inputs: Map::new(),
            run_options: RunOptions { to_run: true, ..RunOptions::default() },
            trusts_tree: false,
            environment: Vec::new(),
            bash: None,
            adapter: None,
            backend: None,
            requirements: None,
            limits: Limits::default(),
            grace: GRACE,
            warden: None,
            listener: Box::new(NullListener),
            on_start: Box::new(|_| {}),
        }
    }

    /// Where steps run. Without it: the current directory.
    pub fn working_dir(mut self, directory: impl Into<PathBuf>) -> Runner {
        self.directory = directory.into();
        self
    }

    /// Where recipes are looked for by name, the first one first. What is there may run.
    pub fn search<P: Into<PathBuf>>(mut self, directories: impl IntoIterator<Item = P>) -> Runner {
        self.search.directories.extend(SearchPath::given(directories).directories);
        self
    }

    /// Where the instructions of agents are looked for.
    pub fn agent_dirs<P: Into<PathBuf>>(
        mut self,
        directories: impl IntoIterator<Item = P>,
    ) -> Runner {
        self.search.agents.extend::<Vec<SearchDir>>(SearchPath::given(directories).directories);
        self
    }

    /// Sets a variable over the recipe's own value.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<Value>) -> Runner {
        self.inputs.insert(name.into(), value.into());
        self
    }

    /// Which tagged steps run.
    pub fn tags(mut self, tags: Tags) -> Runner {
        self.run_options.tags = tags;
        self
    }

    /// Stages nothing in git, whatever the steps ask for.
    pub fn no_auto_stage(mut self) -> Runner {
        self.run_options.no_auto_stage = true;
        self
    }

    /// How long one command or agent call of a step without a `timeout` may take. Without it an agent
    /// has an hour, and a command as long as it takes.
    pub fn step_timeout(mut self, time: Duration) -> Runner {
        self.run_options.step_timeout = Some(time);
        self
    }

    /// The complete environment of the steps.
    pub fn environment<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Runner {
        self.environment = variables.into_iter().map(|(n, v)| (n.into(), v.into())).collect();
        let home = self.environment.iter().find(|(name, _)| name == "HOME");
        self.run_options.home = home.map(|(_, home)| home.to_string_lossy().into_owned());
        self
    }

    /// Who answers agent steps and may run commands.
    pub fn adapter(mut self, adapter: impl Adapter + 'static) -> Runner {
        self.adapter = Some(Arc::new(adapter));
        self
    }

    /// An agent program that answers agent steps, where there is no adapter.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Runner {
        self.backend = Some(backend);
        self
    }

    /// Who finds the programs that recipes require. Without it: [`ProgramsOnPath`] of the environment,
    /// which knows no versions, so that a recipe that requires one is refused.
    pub fn requirements(mut self, checker: impl RequirementChecker + 'static) -> Runner {
        self.requirements = Some(Box::new(checker));
        self
    }

    /// Who gets what happens while a run is driven.
    pub fn listener(mut self, listener: impl Listener + 'static) -> Runner {
        self.listener = Box::new(listener);
        self
    }

    /// Is called when a run begins, with what stops it from another thread.
    pub fn on_start(mut self, call: impl FnMut(Controller) + 'static) -> Runner {
        self.on_start = Box::new(call);
        self
    }

    /// Bounds from outside the recipe.
    pub fn limits(mut self, limits: Limits) -> Runner {
        self.limits = limits;
        self
    }

    /// How long a process may take to end after TERM.
    pub fn grace(mut self, grace: Duration) -> Runner {
        self.grace = grace;
        self
    }

    /// The bash to use. Without it: `/bin/bash`, else `bash` on the `PATH` of the environment.
    pub fn bash(mut self, path: impl Into<PathBuf>) -> Runner {
        self.bash = Some(path.into());
        self
    }

    /// The program that guards the run's processes, where [`init`](crate::init) cannot be called: its
    /// `main` calls that, then [`warden_main`](crate::warden_main).
    pub fn warden(mut self, program: impl Into<PathBuf>) -> Runner {
        self.warden = Some(WardenStart::Program { path: program.into(), arguments: Vec::new() });
        self
    }

    /// Recipes that are only found in the working tree may run as well.
    pub fn trust_working_tree(mut self) -> Runner {
        self.trusts_tree = true;
        self
    }

    /// Runs a recipe, by its file or its name, to its end.
    pub fn run(&mut self, recipe: &str) -> Result<RecipeResult, Error> {
        let warden = self.ready()?;
        let directory = existing(&self.directory)?;
        let program = self.resolved(recipe, &directory)?;
        self.refuse_agents(&program)?;
        let met = self.met_requirements(&program, &MetRequirements::default())?;
        let sandbox = self.sandbox(&program, &warden)?;
        let mut store = self.store()?;
        let options = Options { requirements: met, sandbox, ..self.options() };
        let prepared =
            create(&mut store, program, options, &directory, self.limits, &Secrets::default())?;
        self.run_prepared(prepared, &mut store, directory, warden)
    }

    /// Resumes a run that failed, was stopped or was interrupted, by its id or the beginning of it.
    /// What is recorded as finished is not run again; of a run that is done the result is read.
    pub fn resume(&mut self, run: &str) -> Result<RecipeResult, Error> {
        self.resume_with(run, &[])
    }

    /// As [`resume`](Runner::resume), with what the user states about steps.
    pub fn resume_with(
        &mut self,
        run: &str,
        decisions: &[Decision],
    ) -> Result<RecipeResult, Error> {
        let warden = self.ready()?;
        let mut store = self.store()?;
        let row = found(&store, run)?;
        let taken = take_over(&mut store, &row.id, self.limits, &Secrets::default())?;
        let run = taken.run();
        let done = run.is_ended() && run.outcome() == Some(RunOutcome::Done);
        if done && !decisions.iter().any(|d| matches!(d, Decision::Again { .. })) {
            let took = Duration::from_millis(row.summary.active_ms.max(0).unsigned_abs());
            let warnings = taken.warnings().to_vec();
            return Ok(recipe_result(&store, row.id, run, RunOutcome::Done, took, warnings)?);
        }
        self.refuse_agents(run.program())?;
        let directory = existing(&row.directory)?;
        let mut answer = |run: &Run| answers(run, decisions);
        let requirements = self.met_requirements(run.program(), &taken.options().requirements)?;
        let sandbox = self.sandbox(run.program(), &warden)?;
        let changes = Changes { requirements, sandbox, ..Changes::default() };
        let prepared = taken.resume(&mut store, changes, &Secrets::default(), &mut answer)?;
        self.run_prepared(prepared, &mut store, directory, warden)
    }

    /// What could refuse a run before anything is looked for or recorded.
    fn ready(&self) -> Result<WardenStart, Error> {
        refuse_unavailable(self.adapter.as_ref())?;
        self.warden.clone().or_else(own_warden).ok_or(Error::NoWarden)
    }

    fn resolved(&self, recipe: &str, directory: &Path) -> Result<Program, Error> {
        let resolved = resolve(&Request {
            reference: recipe.to_owned(),
            working_dir: directory.to_owned(),
            search: self.search.clone(),
            inputs: self.inputs.clone(),
            run_options: self.run_options.clone(),
        });
        let Resolved { program, origin, problems, .. } = resolved;
        let program = program.ok_or(Problems(problems))?;
        if origin == Origin::Project && !self.trusts_tree {
            let path = program.plan.recipes.iter().find_map(|r| r.path.as_ref());
            let path = path.map_or_else(|| directory.to_owned(), PathBuf::from);
            return Err(Error::NotTrusted { path });
        }
        Ok(program)
    }

    fn refuse_agents(&self, program: &Program) -> Result<(), Error> {
        let nobody = self.adapter.is_none() && self.backend.is_none();
        if nobody && program.has_agents() { Err(Error::NoAgent) } else { Ok(()) }
    }

    fn met_requirements(
        &self,
        program: &Program,
        earlier: &MetRequirements,
    ) -> Result<MetRequirements, Error> {
        let on_path = ProgramsOnPath::of(&self.environment);
        let checker = self.requirements.as_deref().unwrap_or(&on_path);
        Ok(check_requirements(program, checker, earlier).map_err(EngineError::from)?)
    }

    /// How the program's sandboxed steps are confined, where it has any.
    fn sandbox(
        &self,
        program: &Program,
        warden: &WardenStart,
    ) -> Result<Option<Confinement>, Error> {
        let guard = match warden {
            WardenStart::Program { path, .. } => path,
            WardenStart::Fork => own_executable(),
        };
        let path = self.environment.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, path)| path.as_os_str());
        Ok(find_sandbox(program, guard, path)?)
    }

    fn store(&self) -> Result<Store, Error> {
        // Scripts name files below it.
        if self.state.to_str().is_none() {
            let error = std::io::Error::other("the state directory's name must be UTF-8");
            return Err(Error::Directory { path: self.state.clone(), error });
        }
        Ok(Store::open(&self.state)?)
    }

    /// An adapter's name is recorded, so that nobody else resumes its run unasked.
    fn options(&self) -> Options {
        let adapter = self.adapter.as_ref().map(|adapter| adapter.name().to_owned());
        let backend = self.backend.as_ref().map(|backend| backend.id().to_owned());
        Options { backend: adapter.or(backend), ..Options::default() }
    }

    fn run_prepared(
        &mut self,
        prepared: Prepared,
        store: &mut Store,
        directory: PathBuf,
        warden: WardenStart,
    ) -> Result<RecipeResult, Error> {
        let usual = Path::new("/bin/bash");
        let bash = if usual.exists() { usual } else { Path::new("bash") };
        let program = |backend: &Arc<dyn Backend>| Agents::Program {
            backend: Arc::clone(backend),
            calls: None,
        };
        let config = Config {
            secrets: Secrets::default(),
            directory,
            environment: self.environment.clone(),
            bash: self.bash.clone().unwrap_or_else(|| bash.to_owned()),
            agents: self.backend.as_ref().map_or(Agents::None, program),
            models: Models::default(),
            directory_variables: DirectoryVariables::default(),
            adapter: self.adapter.clone(),
            limits: self.limits,
            idle_timeout: None,
            grace: self.grace,
            warden,
            text_if_killed: None,
            substitutes: Substitutes::default(),
        };
        let mut listening = Listening::new(&mut *self.listener);
        let on_start = &mut self.on_start;
        let ready = |controller| {
            on_start(controller);
            Ok(())
        };
        let end = prepared.drive(store, config, None, ready, &mut listening)?;
        let RunEnd { id, outcome, run, warnings, took, .. } = end;
        Ok(recipe_result(store, id, &run, outcome, took, warnings)?)
    }
}

/// A directory as the children need it: absolute, and there.
fn existing(directory: &Path) -> Result<PathBuf, Error> {
    let wrong = |error| Error::Directory { path: directory.to_owned(), error };
    let path = directory.canonicalize().map_err(wrong)?;
    match path.is_dir() {
        true => Ok(path),
        false => Err(wrong(std::io::ErrorKind::NotADirectory.into())),
    }
}

fn found(store: &Store, name: &str) -> Result<RunRow, Error> {
    match store.find(name)? {
        Found::One(row) => Ok(*row),
        Found::None => Err(Error::NoSuchRun(name.to_owned())),
        Found::Many(ids) => {
            let candidates = ids.iter().map(ToString::to_string).collect();
            Err(Error::Ambiguous { name: name.to_owned(), candidates })
        }
    }
}

fn answers(run: &Run, decisions: &[Decision]) -> Result<ResumeAnswers, EngineError> {
    let mut answers = ResumeAnswers::default();
    for decision in decisions {
        match decision {
            Decision::Done { step, output, outcome } => {
                answers.add_done(run, step, output, outcome.as_deref())?;
            }
            Decision::Again { step } => answers.add_again(run, step)?,
        }
    }
    Ok(answers)
}

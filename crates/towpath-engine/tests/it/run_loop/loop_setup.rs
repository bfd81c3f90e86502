//! A run whose loop is driven on a fake executor, and what its reporter was given.

use super::fake_executor::FakeExecutor;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use towpath_core::{RunId, Secrets, SessionId};
use towpath_engine::{
    Controller, DriverConfig, EngineError, Event, EventKind, Limits, Options, Prepared, Reporter,
    ResumeAnswers, RunEnd, create, take_over,
};
use towpath_recipe::{Program, Request, RunOptions, SearchPath, resolve};
use towpath_run::Fact;
use towpath_store::Store;

/// A directory with a recipe and the state of its runs.
pub struct Setup {
    root: TempDir,
}

impl Setup {
    pub fn new(recipe: &str) -> Setup {
        let root = tempfile::tempdir().expect("a directory");
        fs::write(root.path().join("recipe.yaml"), recipe).expect("a recipe");
        Setup { root }
    }

    pub fn path(&self, inside: &str) -> PathBuf {
        self.root.path().join(inside)
    }

    pub fn store(&self) -> Store {
        Store::open(&self.path("state")).expect("a store")
    }

    fn program(&self) -> Program {
        let resolved = resolve(&Request {
            reference: "recipe.yaml".to_owned(),
            working_dir: self.root.path().to_owned(),
            search: SearchPath::default(),
            inputs: towpath_core::Map::new(),
            // Without the jobs of git around each agent.
            run_options: RunOptions { to_run: true, no_auto_stage: true, ..RunOptions::default() },
        });
        let problems = resolved.problems;
        resolved.program.unwrap_or_else(|| panic!("{problems:?}"))
    }

    pub fn create(&self, store: &mut Store) -> Prepared {
        self.create_with(store, Options::default())
    }

    pub fn create_with(&self, store: &mut Store, options: Options) -> Prepared {
        self.create_program(store, self.program(), options)
    }

    pub fn create_program(
        &self,
        store: &mut Store,
        program: Program,
        options: Options,
    ) -> Prepared {
        let (limits, secrets) = (Limits::default(), Secrets::default());
        create(store, program, options, self.root.path(), limits, &secrets).expect("a run")
    }

    pub fn resume(&self, store: &mut Store, id: &RunId) -> Prepared {
        let mut answers = |_: &towpath_run::Run| Ok(ResumeAnswers::default());
        let (limits, secrets) = (Limits::default(), Secrets::default());
        let taken = take_over(store, id, limits, &secrets).expect("the run is ours");
        let resumed = taken.resume(store, Default::default(), &secrets, &mut answers);
        resumed.expect("the resume is recorded")
    }

    pub fn config(&self) -> DriverConfig {
        DriverConfig { directory: self.root.path().to_owned(), ..DriverConfig::default() }
    }

    /// Creates a run and drives it on this executor.
    pub fn drive(&self, executor: &mut FakeExecutor) -> (RunId, Result<RunEnd, EngineError>) {
        let mut store = self.store();
        let prepared = self.create(&mut store);
        let id = prepared.id().clone();
        (id, self.drive_prepared(prepared, &mut store, executor, &mut Events::default()))
    }

    pub fn drive_prepared(
        &self,
        prepared: Prepared,
        store: &mut Store,
        executor: &mut FakeExecutor,
        events: &mut dyn Reporter,
    ) -> Result<RunEnd, EngineError> {
        executor.directory = store.run_directory(prepared.id());
        let slot = executor.controller.clone();
        let ready = move |controller: Controller| {
            *slot.borrow_mut() = Some(controller);
            Ok(())
        };
        prepared.drive_on(executor, store, self.config(), ready, events)
    }

    /// Resumes a run on an executor whose jobs all succeed; returns the jobs that were started.
    pub fn resumed_jobs(&self, id: &RunId) -> Vec<String> {
        let mut store = self.store();
        let prepared = self.resume(&mut store, id);
        let mut executor = FakeExecutor::succeeding();
        let end = self.drive_prepared(prepared, &mut store, &mut executor, &mut Events::default());
        let end = end.expect("it ends");
        assert_eq!(end.outcome, towpath_run::RunOutcome::Done);
        executor.started()
    }

    /// The run's facts, each as its kind with the step it is about: `job-started a`.
    pub fn facts(&self, id: &RunId) -> Vec<String> {
        let named = |fact: towpath_store::StoredFact| match fact.key {
            Some(key) => format!("{} {}", fact.kind, key.split('#').next().unwrap_or_default()),
            None => fact.kind,
        };
        self.store().facts(id).expect("facts").into_iter().map(named).collect()
    }

    /// The facts as the run takes them.
    pub fn full_facts(&self, id: &RunId) -> Vec<Fact> {
        let facts = self.store().facts(id).expect("facts");
        facts.iter().map(|fact| serde_json::from_str(&fact.body).expect("a fact")).collect()
    }
}

/// What a reporter was given, a line each.
#[derive(Default)]
pub struct Events {
    pub seen: Vec<String>,
    pub busy: bool,
}

impl Reporter for Events {
    fn event(&mut self, event: &Event) {
        let name = |session: &Option<SessionId>| session.as_ref().map(SessionId::to_string);
        let line = match &event.kind {
            EventKind::StepStarted { step, .. } => format!("start {step}"),
            EventKind::StepEnded { step, result, .. } => {
                format!("end {step} {}", result.status.as_str())
            }
            EventKind::Output { step, bytes, .. } => {
                format!("output {step} {}", String::from_utf8_lossy(bytes).trim_end())
            }
            EventKind::Doing { step, what } => format!("doing {step} {what}"),
            EventKind::CallStarted(call) => {
                format!("call {} {} {:?}", call.step, call.backend, name(&call.session))
            }
            EventKind::CallEnded(call) => {
                format!("answer {} {:?} {:?}", call.step, name(&call.session), call.error)
            }
            EventKind::Warning { message, .. } => format!("warning {message}"),
            EventKind::Stopping => "stopping".to_owned(),
            EventKind::Ended { processes, why } => {
                format!("ended {} {why:?}", processes.join(", "))
            }
            EventKind::Suspended => "suspended".to_owned(),
            EventKind::Continued => "continued".to_owned(),
            EventKind::RunEnded { outcome, .. } => format!("run {}", outcome.as_str()),
            _ => return,
        };
        self.seen.push(line);
    }

    fn ready(&self) -> bool {
        !self.busy
    }
}

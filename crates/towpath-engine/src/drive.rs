//! From a run that is ours to its end: opens an executor, and drives the run on it.

use crate::calls::Calls;
use crate::config::{Config, DriverConfig};
use crate::controller::Controller;
use crate::driver::{Driver, RunEnd};
use crate::error::EngineError;
use crate::event_reporter::Reporter;
use crate::jobs::Jobs;
use crate::journal::{Journal, is_ours};
use crate::outputs_read::OutputsRead;
use crate::prepared::Prepared;
use crate::reports::Reports;
use crate::script_lines::ScriptLines;
use crate::sessions::Sessions;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::sync::{Arc, mpsc};
use std::time::Instant;
use towpath_executor::{
    Adapter, AdapterExecutor, Executor, Leftover, LocalConfig, LocalExecutor, ProcessError,
    SessionTree, end_marked,
};
use towpath_run::{EndedWith, EventKind};
use towpath_store::{Store, StoreError};

impl Prepared {
    /// Drives the run to its end on this machine. `ready` is called once, when threads may be started.
    pub fn drive(
        self,
        store: &mut Store,
        config: Config,
        session_tree: Option<SessionTree>,
        ready: impl FnOnce(Controller) -> std::io::Result<()>,
        reporter: &mut dyn Reporter,
    ) -> Result<RunEnd, EngineError> {
        refuse_unavailable(config.adapter.as_ref())?;
        let (id, directory) = (self.id.clone(), self.directory.clone());
        let secrets = config.secrets.clone();
        let (agents, calls, script, script_replaced) = config.agents.into_parts();
        let local = LocalConfig {
            run_directory: directory.clone(),
            environment: self.requirements.environment(config.environment),
            bash: config.bash,
            agents,
            calls,
            session_tree,
            directory_variables: config.directory_variables,
            secrets: secrets.clone(),
            grace: config.grace,
            text_if_killed: config.text_if_killed,
        };
        let driver = DriverConfig {
            directory: config.directory,
            script,
            script_replaced,
            models: config.models,
            secrets: secrets.clone(),
            idle_timeout: config.idle_timeout,
            substitutes: config.substitutes,
        };
        let mut local = LocalExecutor::open(local, &config.warden, &id, self.lock.as_fd())?;
        let mut adapted;
        let executor: &mut dyn Executor = match config.adapter {
            None => &mut local,
            Some(adapter) => {
                adapted = AdapterExecutor::new(adapter, &mut local, directory, secrets.clone());
                &mut adapted
            }
        };
        let end = self.drive_on(executor, store, driver, ready, reporter);
        let left = local.shut_down();
        // Processes of a run that another process has taken over may be that one's.
        if end.as_ref().is_err_and(|error| !is_taken_over(error)) {
            end_marked(id.as_str(), &secrets)?;
            if let Some(Leftover { pid, command, .. }) = left.into_iter().next() {
                return Err(ProcessError::Survives { pid, command }.into());
            }
        }
        end
    }

    /// Drives the run to its end on an executor of the caller.
    pub fn drive_on(
        self,
        executor: &mut dyn Executor,
        store: &mut Store,
        config: DriverConfig,
        ready: impl FnOnce(Controller) -> std::io::Result<()>,
        reporter: &mut dyn Reporter,
    ) -> Result<RunEnd, EngineError> {
        let began = Instant::now();
        let (sender, controls) = mpsc::channel();
        let thread = "cannot start a thread";
        ready(Controller::new(sender, executor.waker()))
            .map_err(|source| ProcessError::System { doing: thread, source })?;
        let mut reports = Reports::new(reporter, self.warnings.clone());
        self.report_start(&config, &mut reports);
        let script = ScriptLines::replay(config.script, config.script_replaced, &self.history);
        let reads = OutputsRead::of(self.run.program());
        let foreign = self.run.program().plan.machine.session.clone();
        let mut sessions = Sessions::new(self.locks, foreign);
        sessions.replay(&self.history);
        let (lock, directory) = (&self.lock, self.directory.clone());
        let driver = Driver {
            run: self.run,
            journal: Journal {
                store,
                id: self.id,
                directory: self.directory,
                lock,
                secrets: config.secrets,
                reads,
                facts: self.facts,
                pending: Vec::new(),
            },
            reports,
            jobs: Jobs {
                executor,
                running: BTreeMap::new(),
                directory: config.directory,
                idle_timeout: config.idle_timeout,
                substitutes: config.substitutes,
                requirements: self.requirements,
                sandbox: self.sandbox,
            },
            calls: Calls { script, sessions, models: config.models },
            deadlines: BTreeMap::new(),
            controls,
            began,
            active_before_ms: self.active_before_ms,
        };
        driver.run().map_err(|error| match is_ours(lock, &directory) {
            true => error,
            // Whatever was noticed first.
            false => StoreError::Gone { path: directory }.into(),
        })
    }

    fn report_start(&self, config: &DriverConfig, reports: &mut Reports<'_>) {
        reports.send(EventKind::RunStarted {
            run: self.id.clone(),
            recipe: self.run.program().root().name.clone(),
            directory: config.directory.clone(),
            resumed: self.resumed,
            steps: self.run.view(),
        });
        if !self.ended.is_empty() {
            let processes = self.ended.clone();
            reports.send(EventKind::Ended { processes, why: EndedWith::DeadRunner });
        }
        for (step, message) in self.gone.clone() {
            reports.send(EventKind::Warning { step: Some(step), message });
        }
    }
}

fn is_taken_over(error: &EngineError) -> bool {
    matches!(error, EngineError::Store(StoreError::TakenOver(_)))
}

/// Nothing of a run is started with an adapter that cannot work.
pub(crate) fn refuse_unavailable(adapter: Option<&Arc<dyn Adapter>>) -> Result<(), EngineError> {
    match adapter.filter(|adapter| !adapter.is_available()) {
        Some(adapter) => Err(EngineError::Unavailable { adapter: adapter.name().to_owned() }),
        None => Ok(()),
    }
}

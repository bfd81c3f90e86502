//! The jobs of a run on its executor: what each is started with, and which are under way.

use crate::calls::StartedCall;
use crate::error::EngineError;
use crate::required_programs::MetRequirements;
use crate::sandboxed_steps::confined;
use crate::substitutes::Substitutes;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use towpath_core::JobKey;
use towpath_executor::{Confinement, Executor, JobId, JobSpec, Sandbox, Work};
use towpath_shell::Filled;

pub(crate) struct Jobs<'a> {
    pub executor: &'a mut dyn Executor,
    pub running: BTreeMap<JobId, RunningJob>,
    /// Where steps run: absolute.
    pub directory: PathBuf,
    pub idle_timeout: Option<Duration>,
    pub substitutes: Substitutes,
    pub requirements: MetRequirements,
    /// How sandboxed jobs are confined.
    pub sandbox: Option<Confinement>,
}

/// A job that was started and whose end is not known yet.
pub(crate) struct RunningJob {
    pub key: JobKey,
    /// We have asked for its end.
    stopping: bool,
    pub call: Option<StartedCall>,
}

impl RunningJob {
    /// Whether later calls continue the session of its call.
    pub fn keeps_session(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.keeps_session)
    }
}

impl Jobs<'_> {
    /// A step's own command, or what replaces it.
    pub fn script(&self, key: &JobKey, script: Filled) -> Work {
        match self.substitutes.of(key) {
            Some(text) => Work::Script { script: Filled::plain(text.to_owned()), substitute: true },
            None => Work::Script { script, substitute: false },
        }
    }

    /// What the executor starts for a job of the run.
    pub fn spec(
        &self,
        id: JobId,
        work: Work,
        job: towpath_run::Job,
    ) -> Result<JobSpec, EngineError> {
        let towpath_run::Job { key, directory, timeout, environment, sandboxed, .. } = job;
        // Of an empty path it would end with a slash.
        let directory = match directory.as_str() {
            "" => self.directory.clone(),
            inside => self.directory.join(inside),
        };
        let idle_timeout = self.idle_timeout.filter(|_| key.kind.is_work());
        let sandbox = Sandbox::None;
        let spec =
            JobSpec { id, key, work, directory, timeout, idle_timeout, environment, sandbox };
        match &self.sandbox {
            _ if !sandboxed => Ok(spec),
            Some(confinement) => Ok(confined(spec, confinement, &self.requirements)),
            // No run begins without, where a step needs one.
            None => {
                let steps = vec![spec.key.step_path().to_string()];
                Err(EngineError::NoSandbox { steps, reason: "the run has none".to_owned() })
            }
        }
    }

    pub fn start(&mut self, spec: JobSpec, call: Option<StartedCall>) -> Result<(), EngineError> {
        let job = RunningJob { key: spec.key.clone(), stopping: false, call };
        self.running.insert(spec.id, job);
        Ok(self.executor.start(spec)?)
    }

    /// Asks once for the end of a job.
    pub fn stop(&mut self, key: &JobKey) -> Result<(), EngineError> {
        let job = self.running.iter_mut().find(|(_, job)| job.key == *key && !job.stopping);
        if let Some((id, job)) = job {
            job.stopping = true;
            self.executor.stop(*id)?;
        }
        Ok(())
    }

    pub fn stop_all(&mut self, at_once: bool) -> Result<(), EngineError> {
        for (id, job) in &mut self.running {
            job.stopping = true;
            if at_once { self.executor.kill(*id)? } else { self.executor.stop(*id)? }
        }
        Ok(())
    }
}

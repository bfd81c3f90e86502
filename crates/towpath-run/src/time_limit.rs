//! How long one command or agent call may take: what its step says, else what the person said for the
//! run, else for agents an hour, and a day where
//! a machine asks them. A command without any of them takes as long as it takes.

use crate::fact::{JobEnd, JobStatus};
use crate::frame::StepAt;
use crate::run::Run;
use crate::settle::describe;
use std::time::Duration;
use towpath_recipe::Work;

/// Agents that hang must not hang the run.
pub const AGENT_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// A machine's step may be the work of a day.
const MACHINE_CALL_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

impl Run {
    /// The time of one call of a step's own work.
    pub(crate) fn time_limit(&self, at: StepAt) -> Option<Duration> {
        let definition = self.step(at);
        match definition.work {
            Work::Agent(_) => {
                let day = self.frames[at.frame].machine.is_some().then_some(MACHINE_CALL_TIMEOUT);
                let said = definition.timeout.or(self.program.plan.step_timeout);
                Some(said.or(day).unwrap_or(AGENT_TIMEOUT))
            }
            _ => definition.timeout.or(self.program.plan.step_timeout),
        }
    }

    /// The time of an agent call whose step says nothing.
    pub(crate) fn agent_limit(&self) -> Duration {
        self.program.plan.step_timeout.unwrap_or(AGENT_TIMEOUT)
    }

    /// How a job of a step ended, in a line. A time that its step does not state says where it comes
    /// from.
    pub(crate) fn told_end(&self, at: StepAt, end: &JobEnd) -> String {
        if let Some(ms) = end.silent_ms {
            let seconds = Duration::from_millis(ms).as_secs_f64();
            return format!("timed out: it printed nothing for {seconds} s");
        }
        let limit = self.time_limit(at);
        let told = describe(&end.status, limit);
        let own = self.step(at).timeout.is_some();
        match limit.filter(|_| !own && end.status == JobStatus::TimedOut) {
            None => told,
            Some(_) if self.program.plan.step_timeout.is_some() => {
                format!("{told} (--step-timeout)")
            }
            Some(_) => format!(
                "{told}, the time of an agent step without `timeout`; that, or --step-timeout, gives \
                 it more"
            ),
        }
    }
}

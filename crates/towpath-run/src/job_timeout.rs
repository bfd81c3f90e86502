//! How long one command or agent call may take: what its step states, else what the user set for the
//! run, else for agents an hour, and a day in a state machine. A command without any of them takes
//! as long as it takes.

use crate::frame::StepAt;
use crate::job_end::{JobEnd, JobStatus};
use crate::run::Run;
use std::time::Duration;
use towpath_recipe::Work;

/// Agents that hang must not hang the run.
const AGENT_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// A machine's step may be the work of a day.
const MACHINE_CALL_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

impl Run {
    /// The time of one call of a step's own work.
    pub(crate) fn work_timeout(&self, at: StepAt) -> Option<Duration> {
        let step = self.step(at);
        let stated = step.timeout.or(self.program.plan.step_timeout);
        match step.work {
            Work::Agent(_) => {
                let in_machine = self.frames[at.frame].flow.machine().is_some();
                stated.or(Some(if in_machine { MACHINE_CALL_TIMEOUT } else { AGENT_TIMEOUT }))
            }
            _ => stated,
        }
    }

    /// The time of an agent call that recovers a recipe: its step states none for that.
    pub(crate) fn recovery_timeout(&self) -> Duration {
        self.program.plan.step_timeout.unwrap_or(AGENT_TIMEOUT)
    }

    /// How a job of a step ended, in a line. A timeout that the step does not state names its source.
    pub(crate) fn describe_end(&self, at: StepAt, end: &JobEnd) -> String {
        if let Some(ms) = end.silent_ms {
            let seconds = Duration::from_millis(ms).as_secs_f64();
            return format!("timed out: it printed nothing for {seconds} s");
        }
        let timeout = self.work_timeout(at);
        let line = end.status.describe(timeout);
        let own = self.step(at).timeout.is_some();
        let setting = self.limits.step_timeout_name;
        match timeout.filter(|_| !own && end.status == JobStatus::TimedOut) {
            None => line,
            Some(_) if self.program.plan.step_timeout.is_some() => {
                format!("{line} ({setting})")
            }
            Some(_) => format!(
                "{line}, the time of an agent step without `timeout`; that, or {setting}, gives it more"
            ),
        }
    }
}

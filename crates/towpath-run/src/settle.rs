//! What a finished job means for its step, and how a step settles: its work ends, what it changed is
//! staged in git, the hook runs, then it is over.

use crate::event::EventKind;
use crate::frame::StepAt;
use crate::job_end::{JobEnd, JobStatus, Output};
use crate::job_timeout::timed_out;
use crate::progress::{Phase, Written};
use crate::run::Run;
use crate::step_result::{Failure, FailureKind, StepResult, StepStatus};
use std::time::Duration;
use towpath_core::{JobKey, JobKind, Value, extract_json};
use towpath_recipe::ParseJson;

impl Run {
    pub(crate) fn job_finished(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) {
        self.dirty.insert(at.frame);
        match key.kind {
            JobKind::PreHook => self.pre_hook_finished(at, end),
            JobKind::PostHook | JobKind::ErrorHook => {
                self.warn_hook(at, key.kind, end);
                self.settle_now(at);
            }
            JobKind::Snapshot => self.snapshot_finished(at, end),
            JobKind::GitAdd => self.git_add_finished(at, end),
            JobKind::Bash | JobKind::Agent => self.work_finished(at, key, end),
            JobKind::Document => self.document_job_finished(at, end),
        }
    }

    fn pre_hook_finished(&mut self, at: StepAt, end: &JobEnd) {
        if end.status == JobStatus::Stopped {
            return self.fail(at, stopped());
        }
        self.progress_mut(at).pre_done = true;
        self.warn_hook(at, JobKind::PreHook, end);
        self.begin_work(at);
    }

    fn work_finished(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) {
        self.progress_mut(at).interrupted = matches!(
            end.status,
            JobStatus::TimedOut | JobStatus::Stopped | JobStatus::Signalled(_)
        );
        if key.kind == JobKind::Agent {
            self.call_ended(at, key, end);
        }
        if let JobStatus::Faulted(fault) = &end.status
            && self.waits_after(fault)
        {
            self.progress_mut(at).phase = Phase::Waiting;
            return;
        }
        if self.progress(at).recovering.is_some() {
            return self.recovery_finished(at, end);
        }
        self.flow(at.frame).job_finished(self, at, key, end);
    }

    /// The variable that gets a step's output, with its value.
    pub(crate) fn output_write(
        &self,
        at: StepAt,
        output: &Output,
        json: Option<Value>,
    ) -> Vec<(String, Written)> {
        let recipe = self.recipe(at.frame);
        let name = recipe.output_name(&recipe.steps[at.step]);
        name.map(|name| (name.to_owned(), Written::of(output, json))).into_iter().collect()
    }

    /// Fails a step whose work did not start.
    pub(crate) fn fail(&mut self, at: StepAt, failure: Failure) {
        let writes = self.output_write(at, &Output::None, None);
        self.settle(at, StepResult::new(StepStatus::Failed(failure), Output::None), writes);
    }

    /// The work of a step is over: what it changed is staged, its hook runs, then it is settled.
    pub(crate) fn settle(
        &mut self,
        at: StepAt,
        result: StepResult,
        writes: Vec<(String, Written)>,
    ) {
        let progress = self.progress_mut(at);
        progress.result = Some(result);
        progress.writes = writes;
        let alone = self.step(at).parallel_group.is_none();
        if alone && self.wants_staging(at) {
            self.progress_mut(at).phase = Phase::Staging;
            return self.want_git_add(at);
        }
        self.after_work(at);
    }

    /// The hook that follows a step's work. It is wanted again where it was interrupted.
    pub(crate) fn after_work(&mut self, at: StepAt) {
        let Some(result) = &self.progress(at).result else { return };
        let status = result.status.clone();
        self.progress_mut(at).phase = Phase::AfterHook;
        if !self.want_after_hook(at, &status) {
            self.settle_now(at);
        }
    }

    fn settle_now(&mut self, at: StepAt) {
        let progress = self.progress_mut(at);
        if let Some(result) = progress.result.take() {
            let writes = std::mem::take(&mut progress.writes);
            self.settled(at, result, writes);
        }
    }

    /// The end of a step.
    pub(crate) fn settled(
        &mut self,
        at: StepAt,
        result: StepResult,
        writes: Vec<(String, Written)>,
    ) {
        let may = self.step(at).continue_on_error;
        let tolerated =
            matches!(&result.status, StepStatus::Failed(f) if may && f.kind.tolerable());
        let step = self.path(at);
        let (now, resumes) = (self.now_ms, self.resumes);
        let progress = self.progress_mut(at);
        progress.phase = Phase::Settled;
        progress.ended_after = resumes;
        progress.ended_ms = Some(now);
        progress.tolerated = tolerated;
        progress.writes = writes;
        progress.result = Some(result.clone());
        let took_ms = now - progress.started_ms.unwrap_or(now) - progress.paused_ms;
        self.events.push(EventKind::StepEnded { step, result, tolerated, took_ms });
        self.dirty.insert(at.frame);
    }

    /// Why a job that did not succeed makes its step fail.
    pub(crate) fn failure_of_job(&self, at: StepAt, end: &JobEnd) -> Failure {
        let message = self.describe_end(at, end);
        Failure { detail: end.error.clone(), ..Failure::new(kind_of(&end.status), message) }
    }
}

/// The JSON value in an output, where the step wants one.
pub(crate) fn json_in(parse: ParseJson, output: &Output) -> Option<Value> {
    if parse == ParseJson::No { None } else { output.text().and_then(extract_json) }
}

pub(crate) fn stopped() -> Failure {
    Failure::new(FailureKind::Stopped, "stopped")
}

pub(crate) fn is_stopped(status: &StepStatus) -> bool {
    matches!(status, StepStatus::Failed(Failure { kind: FailureKind::Stopped, .. }))
}

pub(crate) fn kind_of(status: &JobStatus) -> FailureKind {
    match status {
        JobStatus::Exited(_) | JobStatus::Signalled(_) => FailureKind::Command,
        JobStatus::TimedOut => FailureKind::Timeout,
        JobStatus::Stopped => FailureKind::Stopped,
        JobStatus::NotStarted => FailureKind::Start,
        JobStatus::Faulted(fault) => FailureKind::Agent(fault.kind),
    }
}

pub(crate) fn describe(status: &JobStatus, timeout: Option<Duration>) -> String {
    match status {
        // The code of bash for a command that SIGPIPE ended, which pipefail makes the code of the pipe.
        JobStatus::Exited(141) => "exit 141: a pipe was closed before all was written".to_owned(),
        JobStatus::Exited(code) => format!("exit {code}"),
        JobStatus::Signalled(signal) => format!("ended by signal {signal}"),
        JobStatus::TimedOut => timeout.map_or("timed out".to_owned(), timed_out),
        JobStatus::Stopped => "stopped".to_owned(),
        JobStatus::NotStarted => "could not be started".to_owned(),
        JobStatus::Faulted(fault) => format!("agent: {}", fault.kind.as_str()),
    }
}

//! What a finished job means for its step, and how a step settles: its work ends, what it changed is
//! staged in git, the hook runs, then it is over.

use crate::event::EventKind;
use crate::failure::{Failure, FailureKind};
use crate::frame::StepAt;
use crate::job_end::{Fault, JobEnd, JobStatus, Output};
use crate::progress::{Activity, Progress, Settled, WorkEnd, Written};
use crate::run::Run;
use crate::step_result::{StepResult, StepStatus};
use towpath_core::{FaultKind, JobKey, JobKind, Value};

impl Run {
    pub(crate) fn job_finished(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) {
        self.dirty.insert(at.frame);
        match key.kind {
            JobKind::PreHook => self.pre_hook_finished(at, end),
            JobKind::PostHook | JobKind::ErrorHook => {
                self.warn_hook(at, key.kind, end);
                if let Some(work) = self.visit_mut(at).progress.take_end() {
                    self.settled(at, work);
                }
            }
            JobKind::Snapshot => self.snapshot_finished(at, end),
            JobKind::GitAdd => self.git_add_finished(at, end),
            JobKind::Bash | JobKind::Agent => self.work_finished(at, key, end),
            JobKind::Document => self.document_job_finished(at, end),
        }
    }

    fn pre_hook_finished(&mut self, at: StepAt, end: &JobEnd) {
        if end.status == JobStatus::Stopped {
            return self.fail(at, Failure::stopped());
        }
        self.visit_mut(at).pre_hook_ran = true;
        self.warn_hook(at, JobKind::PreHook, end);
        self.begin_work(at);
    }

    fn work_finished(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) {
        if key.kind == JobKind::Agent {
            self.call_ended(at, key, end);
        }
        let waits = match &end.status {
            JobStatus::Faulted(fault) => self.waits_after(fault),
            _ => false,
        };
        match std::mem::take(&mut self.visit_mut(at).progress) {
            Progress::Working(activity) if waits => {
                self.visit_mut(at).progress = Progress::Waiting(activity);
            }
            Progress::Working(Activity::Recovery { called, failure }) => {
                self.recovery_finished(at, called, failure, end);
            }
            other => {
                self.visit_mut(at).progress = other;
                self.flow(at.frame).job_finished(self, at, key, end);
            }
        }
    }

    /// Notes what the run waits for after a fault; false where it does not.
    fn waits_after(&mut self, fault: &Fault) -> bool {
        let Some(new) = self.wait_policy.waits_for(fault, self.now_ms) else { return false };
        let waiting = self.waiting.get_or_insert(new);
        waiting.until_ms = waiting.until_ms.max(new.until_ms);
        if new.why == FaultKind::Limit {
            waiting.why = FaultKind::Limit;
        }
        true
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
        self.settle(at, self.end_of_failure(at, failure));
    }

    /// The end of work that has given nothing.
    pub(crate) fn end_of_failure(&self, at: StepAt, failure: Failure) -> WorkEnd {
        let result = StepResult::new(StepStatus::Failed(failure), Output::None);
        WorkEnd::new(result, self.output_write(at, &Output::None, None))
    }

    /// The work of a step is over: what it changed is staged, its hook runs, then it is settled.
    pub(crate) fn settle(&mut self, at: StepAt, end: WorkEnd) {
        let progress = &mut self.visit_mut(at).progress;
        let called = end.called.or(progress.called());
        *progress = Progress::Staging(WorkEnd { called, ..end });
        let alone = self.step(at).parallel_group.is_none();
        if !(alone && self.want_git_add(at)) {
            self.after_work(at);
        }
    }

    /// The hook that follows a step's work. It is wanted again where it was interrupted.
    pub(crate) fn after_work(&mut self, at: StepAt) {
        let Some(end) = self.visit_mut(at).progress.take_end() else { return };
        if self.want_after_hook(at, &end) {
            self.visit_mut(at).progress = Progress::AfterHook(end);
        } else {
            self.settled(at, end);
        }
    }

    /// The end of a step.
    pub(crate) fn settled(&mut self, at: StepAt, end: WorkEnd) {
        let result = end.result.clone();
        let may = self.step(at).continue_on_error;
        let tolerated =
            matches!(&result.status, StepStatus::Failed(f) if may && f.kind.tolerable());
        let step = self.path(at);
        let (ended_ms, ended_after) = (self.now_ms, self.resumes);
        let visit = self.visit_mut(at);
        visit.progress = Progress::Settled(Settled { end, tolerated, ended_ms, ended_after });
        let took_ms = visit.elapsed.map_or(0, |e| ended_ms - e.started_ms - e.paused_ms);
        self.events.push(EventKind::StepEnded { step, result, tolerated, took_ms });
        self.dirty.insert(at.frame);
    }

    /// Why a job that did not succeed makes its step fail.
    pub(crate) fn failure_of_job(&self, at: StepAt, end: &JobEnd) -> Failure {
        let kind = FailureKind::of_job(&end.status);
        Failure { detail: end.error.clone(), ..Failure::new(kind, self.describe_end(at, end)) }
    }
}

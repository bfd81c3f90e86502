//! Resuming: what was in flight is interrupted and runs again, what failed is tried again, and the
//! user is asked about what is marked `once`. The user may declare a step done, or rerun it and what
//! comes after it.

use crate::find_step::NoSuchStep;
use crate::frame::{FrameState, StepAt};
use crate::job_end::Output;
use crate::progress::{Phase, Progress};
use crate::run::Run;
use crate::settle::json_in;
use crate::step_result::{StepResult, StepStatus};
use towpath_core::{JobKind, StepPath};
use towpath_recipe::{Effect, Work};

impl Run {
    pub(crate) fn resumed(&mut self) {
        self.stopping = None;
        self.wait_policy.resumed(self.waiting.take());
        self.ended = false;
        for (key, at) in std::mem::take(&mut self.running) {
            if key.kind == JobKind::Agent {
                self.call_interrupted(at, &key);
            }
            match key.kind {
                JobKind::PreHook | JobKind::Snapshot => self.retry(at),
                JobKind::GitAdd => self.repeat_git_add(at),
                JobKind::PostHook | JobKind::ErrorHook => self.after_work(at),
                // The called recipe is tried again before an agent is asked to recover it again.
                JobKind::Agent if self.progress(at).recovering.is_some() => {
                    self.progress_mut(at).recovering = None;
                    self.progress_mut(at).phase = Phase::Work;
                }
                JobKind::Bash | JobKind::Agent | JobKind::Document => {
                    self.progress_mut(at).interrupted = true;
                    self.retry_or_ask(at);
                }
            }
        }
        self.reopen(0);
        self.dirty.insert(0);
    }

    /// The time in which nobody drove the run is not that of the recipes it was in.
    pub(crate) fn pause_calls(&mut self, paused_ms: i64) {
        for progress in self.frames.iter_mut().flat_map(|frame| &mut frame.steps) {
            let in_flight = progress.started_ms.is_some() && progress.ended_ms.is_none();
            if in_flight && progress.child.is_some() {
                progress.paused_ms += paused_ms.max(0);
            }
        }
    }

    pub(crate) fn is_wanted(&self, at: StepAt) -> bool {
        self.ready.iter().any(|(_, wanted)| *wanted == at)
    }

    /// The work of a step, such as its called recipe, continues.
    pub(crate) fn back_to_work(&mut self, at: StepAt) {
        let now = self.now_ms;
        let progress = self.progress_mut(at);
        progress.paused_ms += progress.ended_ms.map_or(0, |ended| (now - ended).max(0));
        progress.declared_done = false;
        progress.phase = Phase::Work;
        progress.result = None;
        progress.writes.clear();
        progress.recovering = None;
        progress.tolerated = false;
        progress.ended_ms = None;
    }

    pub(crate) fn retry_or_ask(&mut self, at: StepAt) {
        let once = self.step(at).effect == Effect::Once;
        if once && self.progress(at).interrupted {
            self.back_to_work(at);
            self.progress_mut(at).phase = Phase::Asking;
            self.may_ask = true;
        } else {
            self.retry(at);
        }
    }

    /// The same visit, another attempt.
    pub(crate) fn retry(&mut self, at: StepAt) {
        self.back_to_work(at);
        let progress = self.progress_mut(at);
        progress.child = None;
        progress.started_ms = None;
        progress.paused_ms = 0;
        progress.interrupted = false;
        progress.phase = Phase::Pending;
        let entered = progress.visit > 0;
        let start = self.start(at);
        if entered {
            self.begin(at, start);
        } else {
            // An edit has put it into the current batch.
            self.enter(at, start);
        }
    }

    pub(crate) fn declare_done(&mut self, at: StepAt, output: &str) {
        self.drop_wanted(at);
        let output = Output::Text(output.to_owned());
        let json = json_in(self.step(at).parse_json, &output);
        let writes = self.output_write(at, &output, json);
        // Conditions read it as a success.
        let exit_code = matches!(self.step(at).work, Work::Bash { .. }).then_some(0);
        let result = StepResult { exit_code, ..StepResult::new(StepStatus::Completed, output) };
        // The time until the user's answer is not the step's.
        let now = self.now_ms;
        let progress = self.progress_mut(at);
        progress.started_ms = Some(now);
        progress.paused_ms = 0;
        progress.declared_done = true;
        self.settled(at, result, writes);
    }

    /// Runs a step again, and everything after it.
    pub(crate) fn rerun(&mut self, at: StepAt) {
        // A step with a result is asked about because of what it reported.
        if self.progress(at).phase == Phase::Asking && self.progress(at).result.is_none() {
            return self.retry(at);
        }
        // From the outside in: the values of a recipe come from the one that called it.
        for caller in self.callers(at.frame).into_iter().rev() {
            self.flow(caller.frame).return_to(self, caller);
            self.back_to_work(caller);
            self.restore_values(caller);
        }
        self.flow(at.frame).rerun(self, at);
    }

    /// Drops the values of a called recipe that has ended, and of those that it called in turn. A
    /// state machine keeps those of its calls: its own are not what they were at the call.
    pub(crate) fn drop_values(&mut self, frame: usize) {
        self.frames[frame].drop_values();
        if self.frames[frame].flow.machine().is_none() {
            let steps = self.frames[frame].steps.iter();
            let children: Vec<usize> = steps.filter_map(|step| step.child).collect();
            for child in children {
                self.drop_values(child);
            }
        }
    }

    /// Brings back what a called recipe was given, and what its steps have set.
    fn restore_values(&mut self, caller: StepAt) {
        let Some(frame) = self.progress(caller).child else { return };
        if !self.frames[frame].values_dropped {
            return;
        }
        let Ok((extra, _)) = self.values_of_step(caller, self.step(caller)) else { return };
        let given = self.frames[caller.frame].given_to_callee(extra);
        self.frames[frame].given = given;
        self.frames[frame].values_dropped = false;
        self.flow(frame).rebuild_context(self, frame);
    }

    /// What a rerun of a step would repeat: the step, and every later one that has run.
    pub fn rerun_steps(&self, path: &StepPath) -> Result<Vec<StepPath>, NoSuchStep> {
        let at = self.locate(path).map_err(|_| NoSuchStep::Unknown(path.to_string()))?;
        let mut steps = vec![path.clone()];
        for at in std::iter::once(at).chain(self.callers(at.frame)) {
            let later = self.flow(at.frame).rerun_later(self, at);
            steps.extend(later.into_iter().map(|at| self.path(at)));
        }
        Ok(steps)
    }

    /// Whether the user may declare this step done: it is its turn and it is not in flight.
    pub fn awaits(&self, path: &StepPath) -> bool {
        let Ok(at) = self.locate(path) else { return false };
        self.frames[at.frame].state == FrameState::Open
            && self.flow(at.frame).is_current(self, at)
            && self.progress(at).phase != Phase::Settled
            && !self.running.values().any(|running| *running == at)
    }

    /// Whether a step has been entered, so that there is something to run again.
    pub fn was_entered(&self, path: &StepPath) -> bool {
        self.locate(path).is_ok_and(|at| self.progress(at).visit > 0)
    }

    /// Forgets what a step did. Its visit number stays, so that its next jobs have new keys.
    pub(crate) fn reset(&mut self, at: StepAt) {
        self.drop_wanted(at);
        self.uncount(at);
        let visit = self.progress(at).visit;
        *self.progress_mut(at) = Progress { visit, ..Progress::default() };
    }

    /// Drops the wanted jobs of a step and of the recipe it called.
    pub(crate) fn drop_wanted(&mut self, at: StepAt) {
        let child = self.progress(at).child;
        let below = child.map_or_else(Vec::new, |child| self.frames_within(child));
        self.ready.retain(|(_, wanted)| *wanted != at && !below.contains(&wanted.frame));
        for at in below {
            self.frames[at].state = FrameState::Done;
            self.dirty.remove(&at);
        }
    }
}

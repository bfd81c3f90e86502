//! Resuming: what was in flight is interrupted and runs again, what failed is tried again, and the
//! user is asked about what is marked `once`. The user may declare a step done, or rerun it and what
//! comes after it.

use crate::find_step::NoSuchStep;
use crate::frame::{FrameState, StepAt};
use crate::job_end::Output;
use crate::progress::{Activity, Elapsed, Progress, StepVisit, WorkEnd};
use crate::run::Run;
use crate::step_count::StepCount;
use crate::step_result::{StepResult, StepStatus};
use towpath_core::{JobKind, StepPath};
use towpath_recipe::{Effect, Work};

impl Run {
    pub(crate) fn resume(&mut self) {
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
                JobKind::Agent if self.is_recovering(at) => self.back_to_call(at),
                JobKind::Bash | JobKind::Agent | JobKind::Document => self.retry_or_ask(at, true),
            }
        }
        self.reopen(0);
        self.dirty.insert(0);
    }

    /// The time in which nobody drove the run is not that of the recipes it was in.
    pub(crate) fn pause_calls(&mut self, paused_ms: i64) {
        for visit in self.frames.iter_mut().flat_map(|frame| &mut frame.steps) {
            let in_flight = visit.progress.settled().is_none();
            if let Some(elapsed) = visit.elapsed.as_mut().filter(|_| in_flight)
                && visit.progress.called().is_some()
            {
                elapsed.paused_ms += paused_ms.max(0);
            }
        }
    }

    pub(crate) fn is_recovering(&self, at: StepAt) -> bool {
        matches!(self.visit(at).progress, Progress::Working(Activity::Recovery { .. }))
    }

    fn is_wanted(&self, at: StepAt) -> bool {
        self.ready.iter().any(|(_, wanted)| *wanted == at)
    }

    /// Tries again what a step has not finished.
    pub(crate) fn reopen_step(&mut self, at: StepAt) {
        let visit = self.visit(at);
        let unfinished = self.unfinished_call(at);
        match &visit.progress {
            Progress::Asking(_) => {}
            Progress::Waiting(Activity::Recovery { called, failure }) => {
                self.want_recovery(at, *called, failure.clone());
            }
            Progress::Waiting(_) => self.begin_work(at),
            Progress::Settled(settled) if visit.progress.failed() => match unfinished {
                Some(called) => self.reopen_call(at, called),
                None => self.retry_or_ask(at, settled.end.interrupted),
            },
            Progress::Working(Activity::Called(_)) => {
                if let Some(called) = unfinished {
                    self.reopen(called);
                }
            }
            _ if self.is_wanted(at) => {}
            // Its job was dropped when the time of the step around it ran out.
            Progress::Pending
            | Progress::Hook
            | Progress::Working(Activity::Snapshot { .. } | Activity::Job) => self.retry(at),
            Progress::Working(Activity::Recovery { called, .. }) => self.reopen_call(at, *called),
            Progress::Staging(_) => self.repeat_git_add(at),
            Progress::AfterHook(_) => self.after_work(at),
            Progress::Settled(_) => self.forget_staging(at),
        }
    }

    /// The frame of the recipe that a step has called, unless that is done.
    pub(crate) fn unfinished_call(&self, at: StepAt) -> Option<usize> {
        let called = self.visit(at).progress.called();
        called.filter(|called| self.frames[*called].state != FrameState::Done)
    }

    /// Continues with the recipe that a step has called.
    pub(crate) fn reopen_call(&mut self, at: StepAt, called: usize) {
        self.back_to_call(at);
        self.reopen(called);
    }

    /// A step is in the recipe again that it has called.
    fn back_to_call(&mut self, at: StepAt) {
        let Some(called) = self.visit(at).progress.called() else { return };
        self.pause_since_end(at);
        self.visit_mut(at).progress = Progress::Working(Activity::Called(called));
    }

    /// The time since a step's end is not its own.
    fn pause_since_end(&mut self, at: StepAt) {
        let now = self.now_ms;
        let visit = self.visit_mut(at);
        let ended_ms = visit.progress.settled().map(|settled| settled.ended_ms);
        if let (Some(elapsed), Some(ended_ms)) = (&mut visit.elapsed, ended_ms) {
            elapsed.paused_ms += (now - ended_ms).max(0);
        }
    }

    fn retry_or_ask(&mut self, at: StepAt, interrupted: bool) {
        if self.step(at).effect == Effect::Once && interrupted {
            self.pause_since_end(at);
            self.visit_mut(at).progress = Progress::Asking(None);
            self.may_ask = true;
        } else {
            self.retry(at);
        }
    }

    /// The same visit, another attempt.
    pub(crate) fn retry(&mut self, at: StepAt) {
        let visit = self.visit_mut(at);
        (visit.elapsed, visit.progress) = (None, Progress::Pending);
        let entered = visit.number > 0;
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
        let json = output.json(self.step(at).parse_json);
        let writes = self.output_write(at, &output, json);
        // Conditions read it as a success.
        let exit_code = matches!(self.step(at).work, Work::Bash { .. }).then_some(0);
        let result = StepResult { exit_code, ..StepResult::new(StepStatus::Completed, output) };
        let called = self.visit(at).progress.called();
        // The time until the user's answer is not the step's.
        self.visit_mut(at).elapsed = Some(Elapsed::since(self.now_ms));
        let end = WorkEnd { called, declared_done: true, ..WorkEnd::new(result, writes) };
        self.settled(at, end);
    }

    /// Runs a step again, and everything after it.
    pub(crate) fn rerun(&mut self, at: StepAt) {
        if matches!(self.visit(at).progress, Progress::Asking(None)) {
            return self.retry(at);
        }
        // From the outside in: the values of a recipe come from the one that called it.
        for caller in self.callers(at.frame).into_iter().rev() {
            self.flow(caller.frame).return_to(self, caller);
            self.back_to_call(caller);
            self.restore_values(caller);
        }
        self.flow(at.frame).rerun(self, at);
    }

    /// Drops the values of a called recipe that has ended, and of those that it called in turn. A
    /// state machine keeps those of its calls: its own are not what they were at the call.
    pub(crate) fn drop_values(&mut self, frame: usize) {
        self.frames[frame].drop_values();
        if self.frames[frame].flow.machine().is_none() {
            for step in 0..self.frames[frame].steps.len() {
                if let Some(called) = self.frames[frame].steps[step].progress.called() {
                    self.drop_values(called);
                }
            }
        }
    }

    /// Brings back what a called recipe was given, and what its steps have set.
    fn restore_values(&mut self, caller: StepAt) {
        let Some(frame) = self.visit(caller).progress.called() else { return };
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
            && !self.visit(at).progress.is_settled()
            && !self.running.values().any(|running| *running == at)
    }

    /// Whether a step has been entered, so that there is something to run again.
    pub fn was_entered(&self, path: &StepPath) -> bool {
        self.locate(path).is_ok_and(|at| self.visit(at).number > 0)
    }

    /// Forgets what a step did. Its visit number stays, so that its next jobs have new keys.
    pub(crate) fn reset(&mut self, at: StepAt) {
        self.drop_wanted(at);
        self.uncount(at);
        *self.visit_mut(at) = StepVisit::new(self.visit(at).number);
    }

    /// Takes a step, and what ran below it, out of the counts of the frames around it.
    pub(crate) fn uncount(&mut self, at: StepAt) {
        let visit = self.visit(at);
        let called = visit.progress.called().map(|called| self.frames[called].count);
        let mut count = called.unwrap_or_default();
        let open = self.stack(at.frame);
        if visit.counted {
            count.add(StepCount::one(self.is_in_machine(&open)));
        }
        for frame in open {
            self.frames[frame].count.subtract(count);
        }
    }

    /// Whether any of these frames is a state machine, whose guardrails bound its steps.
    pub(crate) fn is_in_machine(&self, open: &[usize]) -> bool {
        open.iter().any(|frame| self.frames[*frame].flow.machine().is_some())
    }

    /// Drops the wanted jobs of a step and of the recipe it called.
    pub(crate) fn drop_wanted(&mut self, at: StepAt) {
        let called = self.visit(at).progress.called();
        let below = called.map_or_else(Vec::new, |called| self.frames_within(called));
        self.ready.retain(|(_, wanted)| *wanted != at && !below.contains(&wanted.frame));
        for at in below {
            self.frames[at].state = FrameState::Done;
            self.dirty.remove(&at);
        }
    }
}

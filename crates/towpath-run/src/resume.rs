//! Going on: what was in flight is interrupted and runs once more, what failed is tried again,
//! what is marked `once` is asked about. A person may declare a step done, or run it and what
//! comes after it anew.

use crate::fact::Output;
use crate::frame::{EndedCall, Frame, FrameState, Phase, Progress, StepAt};
use crate::outcome::{StepResult, StepStatus};
use crate::run::{NoSuchStep, Run};
use crate::settle::{json_in, written};
use towpath_core::{JobKind, StepPath};
use towpath_recipe::{Effect, Work};

impl Run {
    pub(crate) fn resumed(&mut self) {
        self.stopping = None;
        self.patience.resumed(self.waiting.take());
        self.ended = false;
        for (key, at) in std::mem::take(&mut self.running) {
            if key.kind == JobKind::Agent {
                // It was asked, and what that cost nobody knows.
                let error = Some("cut off".to_owned());
                self.spent.add(None);
                let progress = self.progress_mut(at);
                progress.calls.push(EndedCall {
                    key: key.clone(),
                    conversation: progress.conversation.clone(),
                    usage: None,
                    report: None,
                    error,
                    fault: None,
                    said: String::new(),
                });
            }
            match key.kind {
                JobKind::PreHook | JobKind::Snapshot => self.retry(at),
                JobKind::Stage => self.repeat_stage(at),
                JobKind::PostHook | JobKind::ErrorHook => self.repeat_after_hook(at),
                // The called recipe is tried again before an agent is asked once more.
                JobKind::Agent if self.progress(at).recovering.is_some() => {
                    self.progress_mut(at).recovering = None;
                    self.progress_mut(at).phase = Phase::Work;
                }
                JobKind::Bash | JobKind::Agent => {
                    self.progress_mut(at).cut_off = true;
                    self.retry_or_ask(at);
                }
            }
        }
        self.reopen(0);
        self.dirty.insert(0);
    }

    /// Opens a frame again that has failed, and tries what failed in its current stage again.
    pub(crate) fn reopen(&mut self, frame: usize) {
        if self.frames[frame].state == FrameState::Done {
            return;
        }
        self.frames[frame].state = FrameState::Open;
        self.dirty.insert(frame);
        if self.frames[frame].machine.is_some() {
            return self.reopen_machine(frame);
        }
        if !self.frames[frame].begun {
            return;
        }
        let recipe = self.recipe(frame);
        let Some(stage) = recipe.stages().get(self.frames[frame].stage).cloned() else { return };
        for step in stage {
            let at = StepAt::new(frame, step);
            let progress = self.progress(at);
            let unfinished = progress.child.filter(|c| {
                self.frames[*c].state != FrameState::Done && progress.phase != Phase::AfterHook
            });
            match progress.phase {
                Phase::Limited => match (progress.recovering.clone(), progress.child) {
                    (Some(failure), Some(child)) => {
                        self.want_recovery(at, child, failure);
                    }
                    _ => self.begin_work(at),
                },
                Phase::Settled if progress.failed() => match unfinished {
                    Some(child) => {
                        self.back_to_work(at);
                        self.reopen(child);
                    }
                    None => self.retry_or_ask(at),
                },
                Phase::Work if progress.child.is_some() => {
                    if let Some(child) = unfinished {
                        self.reopen(child);
                    }
                }
                // Its job was dropped when the time of the step around it ran out.
                Phase::Pending | Phase::PreHook | Phase::Snapshot | Phase::Work
                    if !self.has_wish(at) =>
                {
                    self.retry(at);
                }
                Phase::Recovery if !self.has_wish(at) => {
                    self.progress_mut(at).recovering = None;
                    self.back_to_work(at);
                    if let Some(child) = unfinished {
                        self.reopen(child);
                    }
                }
                Phase::Staging if !self.has_wish(at) => self.repeat_stage(at),
                Phase::Settled if !self.has_wish(at) => {
                    self.progress_mut(at).forget_staging();
                }
                Phase::AfterHook if !self.has_wish(at) => {
                    self.repeat_after_hook(at);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn has_wish(&self, at: StepAt) -> bool {
        self.ready.iter().any(|(_, wanted)| *wanted == at)
    }

    /// A recipe step whose called recipe goes on.
    pub(crate) fn back_to_work(&mut self, at: StepAt) {
        let progress = self.progress_mut(at);
        progress.phase = Phase::Work;
        progress.result = None;
        progress.writes.clear();
        progress.recovering = None;
        progress.tolerated = false;
        progress.ended_ms = None;
    }

    pub(crate) fn retry_or_ask(&mut self, at: StepAt) {
        let once = self.step(at).effect == Effect::Once;
        if once && self.progress(at).cut_off {
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
        progress.cut_off = false;
        progress.phase = Phase::Pending;
        let entered = progress.visit > 0;
        let verdict = self.verdict(at);
        if entered {
            self.begin(at, verdict);
        } else {
            // An edit has put it into the current stage.
            self.enter(at, verdict);
        }
    }

    pub(crate) fn declare_done(&mut self, at: StepAt, output: &str) {
        self.forget_wishes(at);
        let output = Output::Text(output.to_owned());
        let writes = {
            let recipe = self.recipe(at.frame);
            let name = recipe.output_name(&recipe.steps[at.step]).map(str::to_owned);
            let json = json_in(recipe.steps[at.step].parse_json, &output);
            name.map(|n| (n, written(&output, json))).into_iter().collect()
        };
        // As good as a success, for a condition that asks.
        let exit_code = matches!(self.step(at).work, Work::Bash { .. }).then_some(0);
        let result = StepResult { exit_code, ..StepResult::new(StepStatus::Completed, output) };
        // The time until the person's answer is not the step's.
        self.progress_mut(at).started_ms = Some(self.now_ms);
        self.settled(at, result, writes);
    }

    /// Runs a step, and everything after it, anew.
    pub(crate) fn again(&mut self, at: StepAt) {
        if self.progress(at).phase == Phase::Asking {
            return self.retry(at);
        }
        if self.frames[at.frame].machine.is_some() {
            self.go_back(at);
        } else {
            let stage = self.stage_of(at);
            self.rewind_after(at.frame, stage);
            self.reset(at);
            let verdict = self.verdict(at);
            self.enter(at, verdict);
            self.dirty.insert(at.frame);
        }
        for caller in self.callers(at.frame) {
            if let Some(machine) = &mut self.frames[caller.frame].machine {
                machine.exit = None;
                self.frames[caller.frame].state = FrameState::Open;
            } else {
                let stage = self.stage_of(caller);
                self.rewind_after(caller.frame, stage);
            }
            self.back_to_work(caller);
        }
    }

    /// What `--again` would run anew: the step, and every later one that has run.
    pub fn runs_anew(&self, path: &StepPath) -> Result<Vec<StepPath>, NoSuchStep> {
        let at = self.locate(path).map_err(|_| NoSuchStep::Unknown(path.to_string()))?;
        let mut anew = vec![path.clone()];
        for at in std::iter::once(at).chain(self.callers(at.frame)) {
            // A machine goes on from the step, wherever that leads.
            if self.frames[at.frame].machine.is_some() {
                continue;
            }
            let first = self.recipe(at.frame).stages()[self.stage_of(at)].end;
            for step in first..self.frames[at.frame].steps.len() {
                let later = StepAt { step, ..at };
                if self.progress(later).executed() {
                    anew.push(self.path(later));
                }
            }
        }
        Ok(anew)
    }

    /// Whether a person may say that this step is done: it is at its turn and not in flight.
    pub fn awaits(&self, path: &StepPath) -> bool {
        let Ok(at) = self.locate(path) else { return false };
        let state = &self.frames[at.frame];
        if let Some(machine) = &state.machine {
            return state.state == FrameState::Open
                && machine.at == Some(at.step)
                && state.steps[at.step].phase != Phase::Settled
                && !self.running.values().any(|running| *running == at);
        }
        state.state == FrameState::Open
            && state.begun
            && self.stage_of(at) == state.stage
            && state.steps[at.step].phase != Phase::Settled
            && !self.running.values().any(|running| *running == at)
    }

    /// Whether a step has been entered, so that there is something to run anew.
    pub fn was_entered(&self, path: &StepPath) -> bool {
        self.locate(path).is_ok_and(|at| self.progress(at).visit > 0)
    }

    fn stage_of(&self, at: StepAt) -> usize {
        self.recipe(at.frame)
            .stages()
            .iter()
            .position(|s| s.contains(&at.step))
            .expect("every step is in a stage")
    }

    /// Takes a frame back to a stage and forgets the ones after it.
    fn rewind_after(&mut self, frame: usize, stage: usize) {
        let recipe = self.recipe(frame);
        let first = recipe.stages()[stage].end;
        for later in first..recipe.steps.len() {
            self.reset(StepAt::new(frame, later));
        }
        self.frames[frame].stage = stage;
        self.frames[frame].begun = true;
        self.frames[frame].state = FrameState::Open;
        self.frames[frame].rebuild(&recipe);
    }

    /// Forgets what a step did. Its visit number stays, so that its next jobs have new keys.
    fn reset(&mut self, at: StepAt) {
        self.forget_wishes(at);
        let progress = self.progress(at);
        let visit = progress.visit;
        let counted = progress.counted;
        let inner = |of: fn(&Frame) -> u32| progress.child.map_or(0, |c| of(&self.frames[c]));
        let (executed, in_machines) = (inner(|f| f.executed), inner(|f| f.in_machines));
        let stack = self.stack(at.frame);
        let own = u32::from(counted);
        let own_in_machine = u32::from(counted && self.is_in_machine(&stack));
        *self.progress_mut(at) = Progress { visit, ..Progress::default() };
        for at in stack {
            let frame = &mut self.frames[at];
            frame.executed = frame.executed.saturating_sub(executed + own);
            frame.in_machines = frame.in_machines.saturating_sub(in_machines + own_in_machine);
        }
    }

    /// Drops the wanted jobs of a step and of the recipe it called.
    pub(crate) fn forget_wishes(&mut self, at: StepAt) {
        let child = self.progress(at).child;
        let below: Vec<usize> = match child {
            Some(child) => (0..self.frames.len()).filter(|f| self.is_within(*f, child)).collect(),
            None => Vec::new(),
        };
        self.ready.retain(|(_, wanted)| *wanted != at && !below.contains(&wanted.frame));
        for at in below {
            self.frames[at].state = FrameState::Done;
            self.dirty.remove(&at);
        }
    }
}

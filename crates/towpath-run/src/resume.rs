//! Going on: what was in flight is interrupted and runs once more, what failed is tried again,
//! what is marked `once` is asked about. A person may declare a step done, or run it and what
//! comes after it anew.

use crate::fact::Output;
use crate::frame::{EndedCall, Frame, FrameState, Phase, Progress};
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
        for (key, (frame, step)) in std::mem::take(&mut self.running) {
            if key.kind == JobKind::Agent {
                // It was asked, and what that cost nobody knows.
                let error = Some("cut off".to_owned());
                self.spent.add(None);
                let progress = &mut self.frames[frame].steps[step];
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
                JobKind::PreHook | JobKind::Snapshot => self.retry(frame, step),
                JobKind::Stage => self.repeat_stage(frame, step),
                JobKind::PostHook | JobKind::ErrorHook => self.repeat_after_hook(frame, step),
                // The called recipe is tried again before an agent is asked once more.
                JobKind::Agent if self.frames[frame].steps[step].recovering.is_some() => {
                    self.frames[frame].steps[step].recovering = None;
                    self.frames[frame].steps[step].phase = Phase::Work;
                }
                JobKind::Bash | JobKind::Agent => {
                    self.frames[frame].steps[step].cut_off = true;
                    self.retry_or_ask(frame, step);
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
            let progress = &self.frames[frame].steps[step];
            let unfinished = progress.child.filter(|c| {
                self.frames[*c].state != FrameState::Done && progress.phase != Phase::AfterHook
            });
            match progress.phase {
                Phase::Limited => match (progress.recovering.clone(), progress.child) {
                    (Some(failure), Some(child)) => {
                        self.want_recovery(frame, step, child, failure);
                    }
                    _ => self.begin_work(frame, step),
                },
                Phase::Settled if progress.failed() => match unfinished {
                    Some(child) => {
                        self.back_to_work(frame, step);
                        self.reopen(child);
                    }
                    None => self.retry_or_ask(frame, step),
                },
                Phase::Work if progress.child.is_some() => {
                    if let Some(child) = unfinished {
                        self.reopen(child);
                    }
                }
                // Its job was dropped when the time of the step around it ran out.
                Phase::Pending | Phase::PreHook | Phase::Snapshot | Phase::Work
                    if !self.has_wish(frame, step) =>
                {
                    self.retry(frame, step);
                }
                Phase::Recovery if !self.has_wish(frame, step) => {
                    self.frames[frame].steps[step].recovering = None;
                    self.back_to_work(frame, step);
                    if let Some(child) = unfinished {
                        self.reopen(child);
                    }
                }
                Phase::Staging if !self.has_wish(frame, step) => self.repeat_stage(frame, step),
                Phase::Settled if !self.has_wish(frame, step) => {
                    self.frames[frame].steps[step].forget_staging();
                }
                Phase::AfterHook if !self.has_wish(frame, step) => {
                    self.repeat_after_hook(frame, step);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn has_wish(&self, frame: usize, step: usize) -> bool {
        self.ready.iter().any(|(_, f, s)| (*f, *s) == (frame, step))
    }

    /// A recipe step whose called recipe goes on.
    pub(crate) fn back_to_work(&mut self, frame: usize, step: usize) {
        let progress = &mut self.frames[frame].steps[step];
        progress.phase = Phase::Work;
        progress.result = None;
        progress.writes.clear();
        progress.recovering = None;
        progress.tolerated = false;
        progress.ended_ms = None;
    }

    pub(crate) fn retry_or_ask(&mut self, frame: usize, step: usize) {
        let once = self.step(frame, step).effect == Effect::Once;
        if once && self.frames[frame].steps[step].cut_off {
            self.back_to_work(frame, step);
            self.frames[frame].steps[step].phase = Phase::Asking;
            self.may_ask = true;
        } else {
            self.retry(frame, step);
        }
    }

    /// The same visit, another attempt.
    pub(crate) fn retry(&mut self, frame: usize, step: usize) {
        self.back_to_work(frame, step);
        let progress = &mut self.frames[frame].steps[step];
        progress.child = None;
        progress.started_ms = None;
        progress.cut_off = false;
        progress.phase = Phase::Pending;
        let entered = progress.visit > 0;
        let verdict = self.verdict(frame, step);
        if entered {
            self.begin(frame, step, verdict);
        } else {
            // An edit has put it into the current stage.
            self.enter(frame, step, verdict);
        }
    }

    pub(crate) fn declare_done(&mut self, frame: usize, step: usize, output: &str) {
        self.forget_wishes(frame, step);
        let output = Output::Text(output.to_owned());
        let writes = {
            let recipe = self.recipe(frame);
            let name = recipe.output_name(&recipe.steps[step]).map(str::to_owned);
            let json = json_in(recipe.steps[step].parse_json, &output);
            name.map(|n| (n, written(&output, json))).into_iter().collect()
        };
        // As good as a success, for a condition that asks.
        let exit_code = matches!(self.step(frame, step).work, Work::Bash { .. }).then_some(0);
        let result = StepResult { exit_code, ..StepResult::new(StepStatus::Completed, output) };
        // The time until the person's answer is not the step's.
        self.frames[frame].steps[step].started_ms = Some(self.now_ms);
        self.settled(frame, step, result, writes);
    }

    /// Runs a step, and everything after it, anew.
    pub(crate) fn again(&mut self, frame: usize, step: usize) {
        if self.frames[frame].steps[step].phase == Phase::Asking {
            return self.retry(frame, step);
        }
        if self.frames[frame].machine.is_some() {
            self.go_back(frame, step);
        } else {
            let stage = self.stage_of(frame, step);
            self.rewind_after(frame, stage);
            self.reset(frame, step);
            let verdict = self.verdict(frame, step);
            self.enter(frame, step, verdict);
            self.dirty.insert(frame);
        }
        let mut at = frame;
        while let Some((parent, opener)) = self.frames[at].parent {
            if let Some(machine) = &mut self.frames[parent].machine {
                machine.exit = None;
                self.frames[parent].state = FrameState::Open;
            } else {
                let stage = self.stage_of(parent, opener);
                self.rewind_after(parent, stage);
            }
            self.back_to_work(parent, opener);
            at = parent;
        }
    }

    /// What `--again` would run anew: the step, and every later one that has run.
    pub fn runs_anew(&self, path: &StepPath) -> Result<Vec<StepPath>, NoSuchStep> {
        let (mut frame, step) =
            self.locate(path).map_err(|_| NoSuchStep::Unknown(path.to_string()))?;
        let mut anew = vec![path.clone()];
        let mut stage = self.stage_of(frame, step);
        loop {
            let first = self.recipe(frame).stages()[stage].end;
            for later in first..self.frames[frame].steps.len() {
                // A machine goes on from the step, wherever that leads.
                let machine = self.frames[frame].machine.is_some();
                if !machine && self.frames[frame].steps[later].executed() {
                    anew.push(self.path(frame, later));
                }
            }
            let Some((parent, opener)) = self.frames[frame].parent else { return Ok(anew) };
            stage = self.stage_of(parent, opener);
            frame = parent;
        }
    }

    /// Whether a person may say that this step is done: it is at its turn and not in flight.
    pub fn awaits(&self, path: &StepPath) -> bool {
        let Ok((frame, step)) = self.locate(path) else { return false };
        let state = &self.frames[frame];
        if let Some(machine) = &state.machine {
            return state.state == FrameState::Open
                && machine.at == Some(step)
                && state.steps[step].phase != Phase::Settled
                && !self.running.values().any(|at| *at == (frame, step));
        }
        state.state == FrameState::Open
            && state.begun
            && self.stage_of(frame, step) == state.stage
            && state.steps[step].phase != Phase::Settled
            && !self.running.values().any(|at| *at == (frame, step))
    }

    /// Whether a step has been entered, so that there is something to run anew.
    pub fn was_entered(&self, path: &StepPath) -> bool {
        self.locate(path).is_ok_and(|(frame, step)| self.frames[frame].steps[step].visit > 0)
    }

    fn stage_of(&self, frame: usize, step: usize) -> usize {
        self.recipe(frame)
            .stages()
            .iter()
            .position(|s| s.contains(&step))
            .expect("every step is in a stage")
    }

    /// Takes a frame back to a stage and forgets the ones after it.
    fn rewind_after(&mut self, frame: usize, stage: usize) {
        let recipe = self.recipe(frame);
        let first = recipe.stages()[stage].end;
        for later in first..recipe.steps.len() {
            self.reset(frame, later);
        }
        self.frames[frame].stage = stage;
        self.frames[frame].begun = true;
        self.frames[frame].state = FrameState::Open;
        self.frames[frame].rebuild(&recipe);
    }

    /// Forgets what a step did. Its visit number stays, so that its next jobs have new keys.
    fn reset(&mut self, frame: usize, step: usize) {
        self.forget_wishes(frame, step);
        let progress = &self.frames[frame].steps[step];
        let visit = progress.visit;
        let counted = progress.counted;
        let inner = |of: fn(&Frame) -> u32| progress.child.map_or(0, |c| of(&self.frames[c]));
        let (executed, in_machines) = (inner(|f| f.executed), inner(|f| f.in_machines));
        let stack = self.stack(frame);
        let own = u32::from(counted);
        let own_in_machine = u32::from(counted && self.is_in_machine(&stack));
        self.frames[frame].steps[step] = Progress { visit, ..Progress::default() };
        for at in stack {
            let frame = &mut self.frames[at];
            frame.executed = frame.executed.saturating_sub(executed + own);
            frame.in_machines = frame.in_machines.saturating_sub(in_machines + own_in_machine);
        }
    }

    /// Drops the wanted jobs of a step and of the recipe it called.
    pub(crate) fn forget_wishes(&mut self, frame: usize, step: usize) {
        let child = self.frames[frame].steps[step].child;
        let below: Vec<usize> = match child {
            Some(child) => (0..self.frames.len()).filter(|f| self.is_within(*f, child)).collect(),
            None => Vec::new(),
        };
        self.ready.retain(|(_, f, s)| !(below.contains(f) || (*f == frame && *s == step)));
        for at in below {
            self.frames[at].state = FrameState::Done;
            self.dirty.remove(&at);
        }
    }
}

//! Sequences: the steps run in the order of the file, in batches. A batch is one step or a parallel
//! group. It begins when the one before it has settled, and a failure that is not tolerated ends the
//! recipe once the whole batch has settled.

use crate::flow::{FinishedCall, FlowRules, FrameResult, last_output};
use crate::frame::{FrameState, StepAt};
use crate::job::{AgentJob, JobWork, NON_INTERACTIVE_FOOTER};
use crate::job_end::{JobEnd, JobStatus, Output};
use crate::job_timeout::AGENT_TIMEOUT;
use crate::progress::{Before, Phase, Progress};
use crate::prompt_rendering::DocumentUse;
use crate::remind::AnswerCheck;
use crate::run::Run;
use crate::scope::Scope;
use crate::settle::json_in;
use crate::step_result::{Failure, FailureKind, StepResult, StepStatus};
use crate::step_view::StepView;
use std::ops::Range;
use std::time::Duration;
use towpath_core::{JobKey, JobKind, Map, StepPath, Value};
use towpath_recipe::{AgentWork, ParseJson, Recipe, Work};
use towpath_shell::ShellText;

/// Where a sequence is.
#[derive(Debug, Clone, Default)]
pub(crate) struct SequenceState {
    /// The current batch.
    pub batch: usize,
    /// Whether its steps have begun.
    pub begun: bool,
}

pub(crate) struct SequenceRules;

impl FlowRules for SequenceRules {
    fn begin(&self, run: &mut Run, at: StepAt) {
        let step = run.step(at).clone();
        let (extra, directory) = match run.values_of_step(at, &step) {
            Ok(values) => values,
            Err(failure) => return run.fail(at, failure),
        };
        match &step.work {
            Work::Bash { command } => run.begin_command(at, command, extra, directory),
            Work::Agent(agent) => run.begin_agent(at, agent, extra, directory),
            Work::Recipe { name, .. } => run.call(at, name, extra, directory),
        }
    }

    fn advance(&self, run: &mut Run, frame: usize) {
        let Some(batch) = run.batch(frame) else {
            return run.close(frame, FrameState::Done, None);
        };
        if !run.sequence(frame).begun {
            run.sequence_mut(frame).begun = true;
            run.begin_batch(frame, batch.clone());
        }
        let steps = &run.frames[frame].steps[batch.clone()];
        if steps.iter().any(|step| step.phase != Phase::Settled) {
            return;
        }
        if run.adds_group_to_git(frame, batch.clone()) {
            return;
        }
        let steps = &run.frames[frame].steps[batch.clone()];
        // A batch that was stopped is not over: its failures count when it is tried again.
        let stopped = steps.iter().position(Progress::stopped);
        if let Some(failed) = stopped.or_else(|| steps.iter().position(Progress::failed)) {
            return run.close_failed(StepAt::new(frame, batch.start + failed));
        }
        let recipe = run.recipe(frame);
        for step in batch {
            run.frames[frame].commit(&recipe, step);
            if let Some(child) = run.frames[frame].steps[step].child {
                run.drop_values(child);
            }
        }
        let state = run.sequence_mut(frame);
        state.batch += 1;
        state.begun = false;
        run.dirty.insert(frame);
    }

    fn job_finished(&self, run: &mut Run, at: StepAt, _key: &JobKey, end: &JobEnd) {
        let (output, usage) = match run.check_answer(at, end) {
            AnswerCheck::Reminded => return,
            AnswerCheck::Final(output, usage) => (output, usage),
        };
        let exit_code = match end.status {
            JobStatus::Exited(code) => Some(code),
            _ => None,
        };
        let parse = run.step(at).parse_json;
        let value = json_in(parse, &output);
        let status = without_json(run.status_of_work(at, end, &output), parse, &output, &value);
        let writes = run.output_write(at, &output, value);
        let result = StepResult { exit_code, usage, ..StepResult::new(status, output) };
        run.settle(at, result, writes);
    }

    fn call_finished(&self, run: &mut Run, at: StepAt, call: FinishedCall) {
        let FinishedCall { frame, mut result, failure } = call;
        let parse = run.step(at).parse_json;
        result.value = result.value.or_else(|| json_in(parse, &result.output));
        let status = failure.map_or(StepStatus::Completed, StepStatus::Failed);
        let status = without_json(status, parse, &result.output, &result.value);
        let writes = run.writes_of_caller(at, frame, &status, &result);
        run.settle(at, StepResult::new(status, result.output), writes);
    }

    fn reopen(&self, run: &mut Run, frame: usize) {
        if !run.sequence(frame).begun {
            return;
        }
        for step in run.batch(frame).into_iter().flatten() {
            run.reopen_step(StepAt::new(frame, step));
        }
    }

    fn rerun(&self, run: &mut Run, at: StepAt) {
        run.rewind_to(at);
        run.reset(at);
        let start = run.start(at);
        run.enter(at, start);
        run.dirty.insert(at.frame);
    }

    fn return_to(&self, run: &mut Run, caller: StepAt) {
        run.rewind_to(caller);
    }

    fn rerun_later(&self, run: &Run, at: StepAt) -> Vec<StepAt> {
        let first = run.recipe(at.frame).batches()[run.batch_of(at)].end;
        let later = (first..run.frames[at.frame].steps.len()).map(|step| StepAt { step, ..at });
        later.filter(|later| run.progress(*later).executed()).collect()
    }

    fn is_current(&self, run: &Run, at: StepAt) -> bool {
        let state = run.sequence(at.frame);
        state.begun && state.batch == run.batch_of(at)
    }

    fn rebuild_context(&self, run: &mut Run, frame: usize) {
        let recipe = run.recipe(frame);
        let passed = run.passed(frame, &recipe);
        run.frames[frame].reset_context(&recipe);
        for step in 0..passed {
            run.frames[frame].commit(&recipe, step);
        }
    }

    fn result(&self, run: &Run, frame: usize) -> FrameResult {
        FrameResult { output: last_output(&run.frames[frame]), value: None, exit: None }
    }

    fn edit_conflicts(
        &self,
        run: &Run,
        frame: usize,
        new: &Recipe,
    ) -> Vec<(StepPath, &'static str)> {
        let old = run.recipe(frame);
        let passed = run.passed(frame, &old);
        let mut conflicts = Vec::new();
        for (index, step) in old.steps.iter().enumerate() {
            let at = StepAt::new(frame, index);
            if index >= passed && !run.is_fixed(at) {
                continue;
            }
            let why = match new.step_index(&step.id) {
                None => "has run and is gone from the recipe",
                Some(found) if new.step_text(&new.steps[found]) != old.step_text(step) => {
                    "has run and was changed"
                }
                Some(found) if index < passed && found != index => {
                    "has run and is at another position"
                }
                Some(_) => continue,
            };
            conflicts.push((run.path(at), why));
        }
        for step in new.steps.iter().take(passed) {
            if old.step_index(&step.id).is_none() {
                let path = StepPath::in_frame(run.frames[frame].path.as_ref(), &step.id, 1);
                conflicts.push((path, "is new and comes before steps that have run"));
            }
        }
        conflicts
    }

    fn take_edit(&self, run: &mut Run, frame: usize, _old: &Recipe, new: &Recipe) {
        let batch = new.batches().get(run.sequence(frame).batch);
        let turn = batch.map_or(new.steps.len(), |batch| batch.end);
        for later in run.frames[frame].steps.iter_mut().skip(turn) {
            *later = Progress { visit: later.visit, ..Progress::default() };
        }
    }

    fn view(&self, run: &Run, frame: usize) -> Vec<StepView> {
        let steps = 0..run.frames[frame].steps.len();
        steps.map(|step| run.step_view(StepAt::new(frame, step))).collect()
    }

    fn agent_timeout(&self) -> Duration {
        AGENT_TIMEOUT
    }
}

impl Run {
    fn sequence(&self, frame: usize) -> &SequenceState {
        self.frames[frame].flow.sequence().expect("asked of a sequence's frame only")
    }

    fn sequence_mut(&mut self, frame: usize) -> &mut SequenceState {
        self.frames[frame].flow.sequence_mut().expect("asked of a sequence's frame only")
    }

    /// The steps of the current batch; none after the last.
    fn batch(&self, frame: usize) -> Option<Range<usize>> {
        self.recipe(frame).batches().get(self.sequence(frame).batch).cloned()
    }

    fn batch_of(&self, at: StepAt) -> usize {
        let recipe = self.recipe(at.frame);
        let found = recipe.batches().iter().position(|batch| batch.contains(&at.step));
        found.expect("every step is in a batch")
    }

    /// How many steps are in the batches before the current one.
    fn passed(&self, frame: usize, recipe: &Recipe) -> usize {
        let batch = recipe.batches().get(self.sequence(frame).batch);
        batch.map_or(recipe.steps.len(), |batch| batch.start)
    }

    fn begin_batch(&mut self, frame: usize, batch: Range<usize>) {
        // Every condition of a group sees the context as it was when the group started.
        let steps = batch.map(|step| StepAt::new(frame, step));
        let starts: Vec<_> = steps.map(|at| (at, self.start(at))).collect();
        for (at, start) in starts {
            self.enter(at, start);
        }
    }

    /// Takes a frame back to the batch of a step, and forgets the ones after it.
    fn rewind_to(&mut self, at: StepAt) {
        let recipe = self.recipe(at.frame);
        let batch = self.batch_of(at);
        for step in recipe.batches()[batch].end..recipe.steps.len() {
            self.reset(StepAt { step, ..at });
        }
        *self.sequence_mut(at.frame) = SequenceState { batch, begun: true };
        self.frames[at.frame].state = FrameState::Open;
        self.flow(at.frame).rebuild_context(self, at.frame);
    }

    /// Whether a step of the current batch has results that an edit must not contradict.
    fn is_fixed(&self, at: StepAt) -> bool {
        let progress = self.progress(at);
        let called = |child: usize| self.frames[child].steps.iter().any(Progress::executed);
        (progress.phase == Phase::Settled && !progress.failed())
            || progress.child.is_some_and(called)
    }

    fn begin_command(&mut self, at: StepAt, command: &ShellText, extra: Map, directory: String) {
        let scope = Scope { extra, frame: &self.frames[at.frame] };
        let undefined = scope.undefined_in(command);
        let filled = scope.fill(command);
        self.warn_undefined(at, undefined);
        self.want_work(at, JobKind::Bash, filled, directory);
    }

    fn begin_agent(&mut self, at: StepAt, agent: &AgentWork, extra: Map, directory: String) {
        let progress = self.progress(at);
        if progress.before == Before::NotAsked && self.adds_to_git(agent) {
            return self.want_snapshot(at, directory);
        }
        if progress.reminder.is_some() {
            return self.want_reminder(at, agent, directory);
        }
        let Some(system) = self.instructions(at, agent, &extra, &directory) else { return };
        if let Some(document) = &agent.document {
            let part = DocumentUse::Prompt;
            let text = self.text_of_document(at, part, document, &extra, &directory);
            if let Some(text) = text {
                let work = Ok((agent_job(agent, system, &text), Vec::new()));
                self.want_work(at, JobKind::Agent, work, directory);
            }
            return;
        }
        let scope = Scope { extra, frame: &self.frames[at.frame] };
        let undefined = scope.undefined(agent.prompt.placeholders().map(|p| &p.path));
        let work = scope.render(&agent.prompt);
        let work = work.map(|text| (agent_job(agent, system, &text), Vec::new()));
        self.warn_undefined(at, undefined);
        self.want_work(at, JobKind::Agent, work, directory);
    }

    fn status_of_work(&self, at: StepAt, end: &JobEnd, output: &Output) -> StepStatus {
        if !end.succeeded() {
            return StepStatus::Failed(self.failure_of_job(at, end));
        }
        match (output, &self.step(at).output) {
            (Output::TooLarge { len }, Some(name)) => {
                let message = format!(
                    "output `{name}` has {len} bytes, over the limit of 16 MiB: \
                     write it to a file and print the file's name"
                );
                StepStatus::Failed(Failure::new(FailureKind::Value, message))
            }
            _ => StepStatus::Completed,
        }
    }

    /// Tries again what a step of the current batch has not finished.
    fn reopen_step(&mut self, at: StepAt) {
        let progress = self.progress(at);
        let unfinished = progress.child.filter(|child| {
            self.frames[*child].state != FrameState::Done && progress.phase != Phase::AfterHook
        });
        match progress.phase {
            Phase::Waiting => match (progress.recovering.clone(), progress.child) {
                (Some(failure), Some(child)) => self.want_recovery(at, child, failure),
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
            _ if self.is_wanted(at) => {}
            // Its job was dropped when the time of the step around it ran out.
            Phase::Pending | Phase::PreHook | Phase::Snapshot | Phase::Work => self.retry(at),
            Phase::Recovery => {
                self.back_to_work(at);
                if let Some(child) = unfinished {
                    self.reopen(child);
                }
            }
            Phase::Staging => self.repeat_git_add(at),
            Phase::Settled => self.progress_mut(at).forget_staging(),
            Phase::AfterHook => self.after_work(at),
            Phase::Asking => {}
        }
    }
}

/// What it means for a step that went well when the JSON it must give is not there.
fn without_json(
    status: StepStatus,
    parse: ParseJson,
    output: &Output,
    value: &Option<Value>,
) -> StepStatus {
    if value.is_some() || status != StepStatus::Completed {
        return status;
    }
    let reason = match output {
        Output::OnDisk { len } | Output::TooLarge { len } => {
            format!("its output of {len} bytes is too large to be read as JSON")
        }
        _ => "its output contains no JSON".to_owned(),
    };
    match parse {
        ParseJson::No => status,
        ParseJson::Wanted => StepStatus::Degraded { reason },
        ParseJson::Required => {
            let message = format!("{reason}, which `parse_json_required` asks for");
            StepStatus::Failed(Failure::new(FailureKind::Value, message))
        }
    }
}

fn agent_job(agent: &AgentWork, system: Option<String>, prompt: &str) -> JobWork {
    let reference = agent.agent.as_ref();
    JobWork::Agent(Box::new(AgentJob {
        prompt: format!("{}\n\n{NON_INTERACTIVE_FOOTER}", prompt.trim_end()),
        model: agent.model.clone(),
        mode: agent.mode.as_ref().map(|mode| mode.name.clone()),
        agent: reference.map(|reference| reference.name.clone()),
        system,
        ..AgentJob::default()
    }))
}

//! Sequences: the steps run in the order of the file, in batches. A batch is one step or a parallel
//! group. It begins when the one before it has settled, and a failure that is not tolerated ends the
//! recipe once the whole batch has settled.

use crate::failure::{Failure, FailureKind};
use crate::flow::{FinishedCall, FlowRules, FrameResult, last_output};
use crate::frame::{Flow, FrameState, SequenceState, StepAt};
use crate::job::{AgentJob, JobWork, NON_INTERACTIVE_FOOTER};
use crate::job_end::{JobEnd, Output};
use crate::progress::{Progress, StepVisit, WorkEnd};
use crate::run::Run;
use crate::step_result::{StepResult, StepStatus};
use crate::step_view::StepView;
use std::ops::Range;
use towpath_core::{JobKey, JobKind, Map, StepPath, Value};
use towpath_recipe::{AgentWork, ParseJson, Recipe};

pub(crate) struct SequenceRules;

impl FlowRules for SequenceRules {
    fn begin_agent(
        &self,
        run: &mut Run,
        at: StepAt,
        agent: &AgentWork,
        extra: Map,
        directory: String,
    ) {
        if run.visit(at).before.is_none() && run.adds_to_git(agent) {
            return run.want_snapshot(at, directory);
        }
        if run.want_json_reminder(at, agent, &directory) {
            return;
        }
        let Ok(system) = run.instructions(at, agent, &extra, &directory) else { return };
        let Ok(text) = run.own_prompt(at, agent, extra, &directory) else { return };
        let prompt = format!("{}\n\n{NON_INTERACTIVE_FOOTER}", text.trim_end());
        let work = AgentJob { system, ..AgentJob::of_step(agent, prompt) };
        let key = run.key(at, JobKind::Agent);
        run.want_work(at, key, (JobWork::Agent(Box::new(work)), Vec::new()), directory);
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
        if !steps.iter().all(|visit| visit.progress.is_settled()) {
            return;
        }
        if run.adds_group_to_git(frame, batch.clone()) {
            return;
        }
        let steps = run.frames[frame].steps[batch.clone()].iter().map(|visit| &visit.progress);
        // A batch that was stopped is not over: its failures count when it is tried again.
        let stopped = steps.clone().position(Progress::stopped);
        if let Some(failed) = stopped.or_else(|| steps.clone().position(Progress::failed)) {
            return run.close_failed(StepAt::new(frame, batch.start + failed));
        }
        let recipe = run.recipe(frame);
        for step in batch {
            run.frames[frame].commit(&recipe, step);
            if let Some(child) = run.frames[frame].steps[step].progress.called() {
                run.drop_values(child);
            }
        }
        let state = run.sequence_mut(frame);
        state.batch += 1;
        state.begun = false;
        run.dirty.insert(frame);
    }

    fn job_finished(&self, run: &mut Run, at: StepAt, _key: &JobKey, end: &JobEnd) {
        let Some((output, usage)) = run.check_answer(at, end) else { return };
        let parse = run.step(at).parse_json;
        let value = output.json(parse);
        let status = without_json(run.status_of_work(at, end, &output), parse, &output, &value);
        let writes = run.output_write(at, &output, value);
        let exit_code = end.exit_code();
        let result = StepResult { exit_code, usage, ..StepResult::new(status, output) };
        let interrupted = end.interrupted();
        run.settle(at, WorkEnd { interrupted, ..WorkEnd::new(result, writes) });
    }

    fn call_finished(&self, run: &mut Run, at: StepAt, call: FinishedCall) {
        let FinishedCall { frame, mut result, failure } = call;
        let parse = run.step(at).parse_json;
        result.value = result.value.or_else(|| result.output.json(parse));
        let status = failure.map_or(StepStatus::Completed, StepStatus::Failed);
        let status = without_json(status, parse, &result.output, &result.value);
        let writes = run.writes_of_caller(at, frame, &status, &result);
        run.settle(at, WorkEnd::new(StepResult::new(status, result.output), writes));
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
        later.filter(|later| run.visit(*later).progress.executed()).collect()
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
            *later = StepVisit::new(later.number);
        }
    }

    fn view(&self, run: &Run, frame: usize) -> Vec<StepView> {
        let steps = 0..run.frames[frame].steps.len();
        steps.map(|step| run.step_view(StepAt::new(frame, step))).collect()
    }
}

impl Run {
    fn sequence(&self, frame: usize) -> &SequenceState {
        match &self.frames[frame].flow {
            Flow::Sequence(state) => state,
            Flow::Machine(_) => unreachable!("asked of a sequence's frame only"),
        }
    }

    fn sequence_mut(&mut self, frame: usize) -> &mut SequenceState {
        match &mut self.frames[frame].flow {
            Flow::Sequence(state) => state,
            Flow::Machine(_) => unreachable!("asked of a sequence's frame only"),
        }
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
        let progress = &self.visit(at).progress;
        let done = progress.is_settled() && !progress.failed();
        done || progress.called().is_some_and(|called| self.frames[called].has_executed())
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

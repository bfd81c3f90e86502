//! What a finished job means: the step's result, what it sets, and the hook that follows.

use crate::advance::timed_out;
use crate::fact::{JobEnd, JobStatus, Output};
use crate::frame::{EndedCall, FrameState, Phase, StepAt, Written};
use crate::happening::Happening;
use crate::outcome::{Failure, FailureKind, StepResult, StepStatus};
use crate::remind::Heard;
use crate::run::Run;
use towpath_core::{JobKey, JobKind, Map, Value, extract_json};
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
            JobKind::Stage => self.stage_finished(at, end),
            JobKind::Bash | JobKind::Agent => self.work_finished(at, key, end),
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

    fn warn_hook(&mut self, at: StepAt, kind: JobKind, end: &JobEnd) {
        if end.succeeded() {
            return;
        }
        let step = Some(self.path(at));
        let what = describe(&end.status, Some(crate::job::HOOK_TIMEOUT));
        let message = match end.error.lines().rfind(|l| !l.trim().is_empty()) {
            Some(line) => format!("{} hook failed: {what}: {line}", kind.as_str()),
            None => format!("{} hook failed: {what}", kind.as_str()),
        };
        self.happenings.push(Happening::Warning { step, message });
    }

    fn work_finished(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) {
        let ended_from_outside = matches!(
            end.status,
            JobStatus::TimedOut | JobStatus::Stopped | JobStatus::Signalled(_)
        );
        self.progress_mut(at).cut_off = ended_from_outside;
        if key.kind == JobKind::Agent {
            let error = (!end.succeeded()).then(|| describe(&end.status, None));
            let said = end.error.clone();
            let fault = match &end.status {
                JobStatus::Faulted(fault) => Some(fault.kind),
                _ => None,
            };
            self.spent.add(end.usage);
            let progress = self.progress_mut(at);
            progress.calls.push(EndedCall {
                key: key.clone(),
                conversation: progress.conversation.clone(),
                usage: end.usage,
                report: None,
                error,
                fault,
                said,
            });
            if end.succeeded() {
                self.patience.answered();
            }
        }
        if let JobStatus::Faulted(fault) = &end.status
            && self.waits_after(fault)
        {
            self.progress_mut(at).phase = Phase::Limited;
            return;
        }
        if self.progress(at).recovering.is_some() {
            return self.recovery_finished(at, end);
        }
        if self.frames[at.frame].machine.is_some() {
            return self.state_finished(at, key, end);
        }
        let (output, usage) = match self.answered_again(at, key, end) {
            Heard::Again => return,
            Heard::Answer(output, usage) => (output, usage),
        };
        let definition = self.step(at);
        let mut status = match &end.status {
            JobStatus::Exited(0) => StepStatus::Completed,
            other => StepStatus::Failed(Failure {
                detail: end.error.clone(),
                ..Failure::new(kind_of(other), self.told_end(at, end))
            }),
        };
        if let (Output::TooLarge { len }, Some(name)) = (&output, &definition.output)
            && status == StepStatus::Completed
        {
            let message = format!(
                "output `{name}` has {len} bytes, over the limit of 16 MiB: \
                 write it to a file and print the file's name"
            );
            status = StepStatus::Failed(Failure::new(FailureKind::Value, message));
        }
        let exit_code = match end.status {
            JobStatus::Exited(code) => Some(code),
            _ => None,
        };
        let parse = definition.parse_json;
        let value = json_in(parse, &output);
        let status = without_json(status, parse, &value);
        let writes = self.output_write(at, &output, value);
        let result = StepResult { exit_code, usage, ..StepResult::new(status, output) };
        self.settle(at, result, writes);
    }

    fn output_write(
        &self,
        at: StepAt,
        output: &Output,
        json: Option<Value>,
    ) -> Vec<(String, Written)> {
        let recipe = self.recipe(at.frame);
        let Some(name) = recipe.output_name(&recipe.steps[at.step]) else { return Vec::new() };
        vec![(name.to_owned(), written(output, json))]
    }

    /// A called recipe has ended.
    pub(crate) fn settle_call(&mut self, at: StepAt, child: usize, failure: Option<Failure>) {
        if let Some(failure) = &failure
            && self.tries_recovery(at, failure)
        {
            return self.want_recovery(at, child, failure.clone());
        }
        let ended = self.machine_output(child);
        let (output, json) = match &ended {
            Some((_, value)) => (Output::Text(value.to_string()), Some(value.clone())),
            None => (self.last_output(child), None),
        };
        if self.frames[at.frame].machine.is_some() {
            let exit = ended.as_ref().map(|(exit, _)| exit);
            return self.state_called(at, output, json, exit, failure);
        }
        let parse = self.step(at).parse_json;
        let value = json.or_else(|| json_in(parse, &output));
        let status = failure.map_or(StepStatus::Completed, StepStatus::Failed);
        let status = without_json(status, parse, &value);
        let writes = self.call_writes(at, child, &status, &output, value);
        let result = StepResult::new(status, output);
        self.settle(at, result, writes);
    }

    /// What the step that ran last in a called recipe gave.
    fn last_output(&self, child: usize) -> Output {
        let last = self.frames[child].steps.iter().rfind(|p| p.executed());
        last.and_then(|p| p.result.as_ref()).map_or(Output::None, |r| r.output.clone())
    }

    /// What a recipe step sets: what the called recipe's steps set, and the step's own output.
    pub(crate) fn call_writes(
        &self,
        at: StepAt,
        child: usize,
        status: &StepStatus,
        output: &Output,
        json: Option<Value>,
    ) -> Vec<(String, Written)> {
        let recipe = self.recipe(at.frame);
        let definition = &recipe.steps[at.step];
        if let (true, Some(value)) = (self.frames[child].machine.is_some(), &json) {
            // A machine gives how it ended, under both names.
            let id = (!recipe.context.contains_key(&definition.id)).then_some(&definition.id);
            let names = id.into_iter().chain(&definition.output);
            return names.map(|name| (name.clone(), Written::Value(value.clone()))).collect();
        }
        let set = self.set_by(child);
        let mut writes = Vec::new();
        if status.is_success() && definition.parallel_group.is_none() {
            writes.extend(set.iter().cloned());
        }
        if !recipe.context.contains_key(&definition.id) {
            let map: Map = set
                .into_iter()
                .filter_map(|(name, written)| match written {
                    Written::Value(value) => Some((name, value)),
                    Written::Unreadable(_) => None,
                })
                .collect();
            writes.push((definition.id.clone(), Written::Value(Value::Object(map))));
        }
        if let Some(name) = &definition.output {
            writes.push((name.clone(), written(output, json)));
        }
        writes
    }

    /// What the steps of a frame have set, in file order, the last value of each name.
    fn set_by(&self, frame: usize) -> Vec<(String, Written)> {
        let mut set: Vec<(String, Written)> = Vec::new();
        for (name, written) in self.frames[frame].steps.iter().flat_map(|p| &p.writes) {
            match set.iter_mut().find(|(known, _)| known == name) {
                Some((_, value)) => *value = written.clone(),
                None => set.push((name.clone(), written.clone())),
            }
        }
        set
    }

    /// Fails a step whose work did not start.
    pub(crate) fn fail(&mut self, at: StepAt, failure: Failure) {
        let writes = self.output_write(at, &Output::None, None);
        let status = StepStatus::Failed(failure);
        let result = StepResult::new(status, Output::None);
        self.settle(at, result, writes);
    }

    /// The work of a step is over: what it changed is staged, its hook comes, then it is settled.
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
            return self.want_stage(at);
        }
        self.after_work(at);
    }

    /// The hook that follows a step's work.
    pub(crate) fn after_work(&mut self, at: StepAt) {
        let Some(result) = self.progress(at).result.clone() else { return };
        let recipe = self.recipe(at.frame);
        let (hook, kind) = if result.status.is_success() {
            (&recipe.hooks.post_step, JobKind::PostHook)
        } else {
            (&recipe.hooks.on_error, JobKind::ErrorHook)
        };
        let interrupted = matches!(
            &result.status,
            StepStatus::Failed(Failure { kind: FailureKind::Stopped, .. })
        );
        let expiring = self.frames[at.frame].state == FrameState::Expiring;
        let status = result.status.as_str();
        let error = match &result.status {
            StepStatus::Failed(failure) if failure.detail.is_empty() => failure.message.clone(),
            StepStatus::Failed(failure) => format!("{}: {}", failure.message, failure.detail),
            _ => String::new(),
        };
        let progress = self.progress_mut(at);
        progress.phase = Phase::AfterHook;
        if let Some(hook) = hook
            && !interrupted
            && !expiring
        {
            let attempt = progress.attempts.after;
            if self.want_hook(at, hook, kind, attempt, status, &error) {
                return;
            }
        }
        self.settle_now(at);
    }

    /// Wants the hook of a finished step once more, because it was cut off.
    pub(crate) fn repeat_after_hook(&mut self, at: StepAt) {
        self.after_work(at);
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
        let path = self.path(at);
        let now = self.now_ms;
        let progress = self.progress_mut(at);
        progress.phase = Phase::Settled;
        progress.ended_ms = Some(now);
        progress.tolerated = tolerated;
        progress.writes = writes;
        progress.result = Some(result.clone());
        let took_ms = now - progress.started_ms.unwrap_or(now);
        self.happenings.push(Happening::StepEnded { step: path, result, tolerated, took_ms });
        self.dirty.insert(at.frame);
    }
}

/// The value that an output holds, where it is asked for.
pub(crate) fn json_in(parse: ParseJson, output: &Output) -> Option<Value> {
    if parse == ParseJson::No { None } else { output.text().and_then(extract_json) }
}

/// What it means for a step that went well when the JSON it must give is not there.
fn without_json(status: StepStatus, parse: ParseJson, value: &Option<Value>) -> StepStatus {
    let missing = value.is_none() && status == StepStatus::Completed;
    match parse {
        ParseJson::Wanted if missing => {
            StepStatus::Degraded { reason: "its output holds no JSON".to_owned() }
        }
        ParseJson::Required if missing => StepStatus::Failed(Failure::new(
            FailureKind::Value,
            "its output holds no JSON, which `parse_json_required` asks for",
        )),
        _ => status,
    }
}

pub(crate) fn written(output: &Output, json: Option<Value>) -> Written {
    match (json, output) {
        (Some(value), _) => Written::Value(value),
        // A step that failed without output must not leave an older value of that name.
        (None, Output::None) => Written::Value(Value::String(String::new())),
        (None, Output::Text(text)) => Written::Value(Value::String(text.clone())),
        (None, Output::OnDisk { len } | Output::TooLarge { len }) => Written::Unreadable(*len),
    }
}

pub(crate) fn stopped() -> Failure {
    Failure::new(FailureKind::Stopped, "stopped")
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

pub(crate) fn describe(status: &JobStatus, timeout: Option<std::time::Duration>) -> String {
    match status {
        JobStatus::Exited(code) => format!("exit {code}"),
        JobStatus::Signalled(signal) => format!("ended by signal {signal}"),
        JobStatus::TimedOut => timeout.map_or("timed out".to_owned(), timed_out),
        JobStatus::Stopped => "stopped".to_owned(),
        JobStatus::NotStarted => "could not be started".to_owned(),
        JobStatus::Faulted(fault) => format!("agent: {}", fault.kind.as_str()),
    }
}

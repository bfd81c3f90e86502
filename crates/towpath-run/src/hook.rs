//! The hooks of a recipe: commands before and after each of its steps. A hook that fails, or whose
//! values do not fit, is a warning and never fails its step.

use crate::event::EventKind;
use crate::frame::{FrameState, StepAt};
use crate::job::{HOOK_TIMEOUT, Job};
use crate::job_end::JobEnd;
use crate::progress::{Phase, Written};
use crate::run::Run;
use crate::scope::Scope;
use crate::settle::{describe, is_stopped};
use crate::step_result::StepStatus;
use towpath_core::{JobKind, Map};

impl Run {
    /// Wants `pre_step`, unless it has run in this visit; whether it is wanted.
    pub(crate) fn want_pre_hook(&mut self, at: StepAt) -> bool {
        if self.progress(at).pre_done {
            return false;
        }
        self.want_hook(at, JobKind::PreHook, "running", "")
    }

    /// Wants the hook that follows a step's work; whether it is wanted.
    pub(crate) fn want_after_hook(&mut self, at: StepAt, status: &StepStatus) -> bool {
        if is_stopped(status) || self.frames[at.frame].state == FrameState::Expiring {
            return false;
        }
        let kind = if status.is_success() { JobKind::PostHook } else { JobKind::ErrorHook };
        let error = match status {
            StepStatus::Failed(failure) if failure.detail.is_empty() => failure.message.clone(),
            StepStatus::Failed(failure) => format!("{}: {}", failure.message, failure.detail),
            _ => String::new(),
        };
        self.want_hook(at, kind, status.as_str(), &error)
    }

    fn want_hook(&mut self, at: StepAt, kind: JobKind, status: &str, error: &str) -> bool {
        let recipe = self.recipe(at.frame);
        let attempts = self.progress(at).attempts;
        let (hook, attempt) = match kind {
            JobKind::PreHook => (&recipe.hooks.pre_step, attempts.pre),
            JobKind::PostHook => (&recipe.hooks.post_step, attempts.after),
            _ => (&recipe.hooks.on_error, attempts.after),
        };
        let Some(hook) = hook else { return false };
        if kind == JobKind::PreHook {
            self.progress_mut(at).phase = Phase::PreHook;
        }
        let id = &recipe.steps[at.step].id;
        let scope =
            Scope { extra: self.values_of_hook(at, status, error), frame: &self.frames[at.frame] };
        match scope.fill(hook) {
            Ok((work, mut environment)) => {
                environment.push(("STEP_ID".to_owned(), id.clone()));
                environment.push(("STEP_STATUS".to_owned(), status.to_owned()));
                let job = Job {
                    key: self.key(at, attempt, kind),
                    work: work.failing(recipe.fails_on(None)),
                    directory: self.frames[at.frame].directory.clone(),
                    timeout: Some(HOOK_TIMEOUT),
                    environment,
                    sandboxed: false,
                };
                self.ready.push((job, at));
                true
            }
            Err(failure) => {
                let message = format!("{} hook did not run: {}", kind.as_str(), failure.message);
                self.warn(at, message);
                false
            }
        }
    }

    /// What a hook may read beside the context: what its step has set, and the step itself.
    fn values_of_hook(&self, at: StepAt, status: &str, error: &str) -> Map {
        let mut values = Map::new();
        for (name, written) in &self.progress(at).writes {
            if let Written::Value(value) = written {
                values.insert(name.clone(), value.clone());
            }
        }
        values.insert("step_id".into(), self.step(at).id.clone().into());
        values.insert("step_status".into(), status.into());
        values.insert("error".into(), error.into());
        values
    }

    pub(crate) fn warn_hook(&mut self, at: StepAt, kind: JobKind, end: &JobEnd) {
        if end.succeeded() {
            return;
        }
        let what = describe(&end.status, Some(HOOK_TIMEOUT));
        let message = match end.error.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!("{} hook failed: {what}: {line}", kind.as_str()),
            None => format!("{} hook failed: {what}", kind.as_str()),
        };
        self.warn(at, message);
    }

    pub(crate) fn warn(&mut self, at: StepAt, message: String) {
        let step = Some(self.path(at));
        self.events.push(EventKind::Warning { step, message });
    }
}

//! The hooks of a recipe: commands before and after each of its steps. A hook that fails, or whose
//! values do not fit, is a warning and never fails its step.

use crate::event::EventKind;
use crate::frame::{FrameState, StepAt};
use crate::job::{HOOK_TIMEOUT, Job};
use crate::job_end::JobEnd;
use crate::progress::{Progress, WorkEnd, Written};
use crate::run::Run;
use crate::scope::Scope;
use crate::step_result::StepStatus;
use towpath_core::{JobKind, Map};

impl Run {
    /// Wants `pre_step`, unless it has run in this visit; whether it is wanted.
    pub(crate) fn want_pre_hook(&mut self, at: StepAt) -> bool {
        let wanted = !self.visit(at).pre_hook_ran
            && self.want_hook(at, JobKind::PreHook, "running", Map::new);
        if wanted {
            self.visit_mut(at).progress = Progress::Hook;
        }
        wanted
    }

    /// Wants the hook that follows a step's work; whether it is wanted.
    pub(crate) fn want_after_hook(&mut self, at: StepAt, end: &WorkEnd) -> bool {
        let status = &end.result.status;
        if status.is_stopped() || self.frames[at.frame].state == FrameState::Expiring {
            return false;
        }
        let kind = if status.is_success() { JobKind::PostHook } else { JobKind::ErrorHook };
        let error = match status {
            StepStatus::Failed(failure) if failure.detail.is_empty() => failure.message.clone(),
            StepStatus::Failed(failure) => format!("{}: {}", failure.message, failure.detail),
            _ => String::new(),
        };
        self.want_hook(at, kind, status.as_str(), || {
            let set = end.writes.iter().filter_map(|(name, written)| match written {
                Written::Value(value) => Some((name.clone(), value.clone())),
                Written::Unreadable(_) => None,
            });
            set.chain([("error".to_owned(), error.into())]).collect()
        })
    }

    /// Wants a hook, which may read these values and its step beside the context.
    fn want_hook(
        &mut self,
        at: StepAt,
        kind: JobKind,
        status: &str,
        values: impl FnOnce() -> Map,
    ) -> bool {
        let recipe = self.recipe(at.frame);
        let hook = match kind {
            JobKind::PreHook => &recipe.hooks.pre_step,
            JobKind::PostHook => &recipe.hooks.post_step,
            _ => &recipe.hooks.on_error,
        };
        let Some(hook) = hook else { return false };
        let id = &recipe.steps[at.step].id;
        let mut extra = values();
        extra.insert("step_id".into(), id.clone().into());
        extra.insert("step_status".into(), status.into());
        extra.entry("error").or_insert_with(|| "".into());
        match (Scope { extra, frame: &self.frames[at.frame] }).fill(hook) {
            Ok((work, mut environment)) => {
                environment.push(("STEP_ID".to_owned(), id.clone()));
                environment.push(("STEP_STATUS".to_owned(), status.to_owned()));
                let work = work.failing(recipe.fails_on(None));
                let directory = self.frames[at.frame].directory.clone();
                let job = Job::new(self.key(at, kind), work, directory, Some(HOOK_TIMEOUT));
                self.ready.push((Job { environment, ..job }, at));
                true
            }
            Err(failure) => {
                let message = format!("{} hook did not run: {}", kind.as_str(), failure.message);
                self.warn(at, message);
                false
            }
        }
    }

    pub(crate) fn warn_hook(&mut self, at: StepAt, kind: JobKind, end: &JobEnd) {
        if end.succeeded() {
            return;
        }
        let what = end.status.describe(Some(HOOK_TIMEOUT));
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

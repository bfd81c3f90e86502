//! The promises, checked while a schedule runs.

use crate::simulated_world::{AGENTS, World, name_of};
use towpath_core::{JobKey, JobKind, StepPath};
use towpath_run::{Job, JobWork, StepState, StepView};

impl World {
    /// The promises, checked at the moment of a start.
    pub fn check_start(&self, job: &Job) {
        let once = name_of(&job.key);
        // `on_error` follows each failure, and a failed step that is tried again may fail again.
        // An agent that recovers a failed recipe may be asked again once that has failed again.
        let repeats = job.key.kind == JobKind::ErrorHook || self.recovers(&job.key);
        // Two answers without the JSON that is required are a failure, and that is tried again.
        let second = name_of(&JobKey { call: 1, ..job.key.clone() });
        let in_vain = job.key.kind == JobKind::Agent && self.succeeded.contains(&second);
        let again = !repeats && !in_vain && self.succeeded.contains(&once);
        assert!(!again, "{} has finished and starts again", job.key);
        let agents = self.in_flight.iter().filter(|j| j.key.kind == JobKind::Agent).count();
        assert!(job.key.kind != JobKind::Agent || agents < AGENTS, "too many agents");
        let path = job.key.step_path();
        let dead = self.expired.iter().find(|step| within(&path, step));
        assert!(dead.is_none(), "{path} starts though the time of {dead:?} has run out");
        if self.is_machine(job.key.frame.as_ref()) {
            return;
        }
        let view = self.run.view();
        let mates = frame_of(&view, job.key.frame.as_ref());
        let recipe = self.recipe_of(job.key.frame.as_ref());
        let batches = recipe.batches();
        let at = recipe.step_index(&job.key.step).expect("a job's step is in its recipe");
        let batch = batches.iter().find(|b| b.contains(&at)).expect("every step is in a batch");
        for earlier in &mates[..batch.start] {
            assert_eq!(earlier.state, StepState::Ended, "{} before {}", job.key, earlier.path);
        }
        self.check_values(job, &mates[..batch.start]);
    }

    /// A value that a step reads is what the step that set it gave.
    fn check_values(&self, job: &Job, earlier: &[StepView]) {
        let JobWork::Bash(filled) = &job.work else { return };
        for value in filled.values.iter().filter(|v| v.starts_with("out ")) {
            let inherited = job.key.frame.is_some() || !job.key.kind.is_work();
            assert!(inherited || self.is_output_of(earlier, value), "{}: {value}", job.key);
        }
    }

    fn is_output_of(&self, steps: &[StepView], value: &str) -> bool {
        steps.iter().any(|step| {
            let own = step.state == StepState::Ended && value == self.output(&step.path);
            own || self.is_output_of(&step.children, value)
        })
    }

    pub fn check_limits(&self) {
        let limit = self.program.root().recursion.max_total_steps.unwrap_or(200);
        if self.program.recipes.iter().any(|recipe| recipe.machine().is_some()) {
            return;
        }
        let stated = self.program.recipes.iter().all(|r| r.recursion.max_total_steps.is_none());
        if stated || self.program.root().recursion.max_total_steps.is_some() {
            let executed = executed(&self.run.view());
            assert!(executed <= limit as usize, "{executed} steps executed, {limit} allowed");
        }
    }
}

fn executed(steps: &[StepView]) -> usize {
    let began = |s: &StepView| s.attempts > 0 || !s.children.is_empty();
    steps.iter().map(|s| usize::from(began(s)) + executed(&s.children)).sum()
}

fn frame_of<'a>(view: &'a [StepView], frame: Option<&StepPath>) -> &'a [StepView] {
    let Some(frame) = frame else { return view };
    let mut at = view;
    for segment in frame.as_str().split('/') {
        let step = at.iter().find(|s| s.path.as_str().rsplit('/').next() == Some(segment));
        at = &step.expect("the frame's step is in view").children;
    }
    at
}

/// Whether a step is in the recipe that another step called.
fn within(path: &StepPath, step: &StepPath) -> bool {
    path.as_str().strip_prefix(step.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

//! What a step printed, out of the record, where it is not in memory.

use towpath_core::{JobKey, JobKind, RunId};
use towpath_recipe::StepKind;
use towpath_run::{StepStatus, StepView};
use towpath_store::{Output, Store, StoreError, Stream};

/// What the step's last command printed. An agent's stdout is its program's own chatter, not its
/// answer, and is no output.
pub fn step_output(
    store: &Store,
    run: &RunId,
    step: &StepView,
) -> Result<Option<Output>, StoreError> {
    let Some(step) = last_executed(step).filter(|step| step.kind == StepKind::Bash) else {
        return Ok(None);
    };
    let Some(attempt) = step.attempts.checked_sub(1) else { return Ok(None) };
    let key = JobKey::of_step(&step.path, attempt, JobKind::Bash);
    store.output(run, &key.to_string(), Stream::Stdout)
}

/// The step whose output this step's is: for a recipe step, the last one in it that ran.
fn last_executed(step: &StepView) -> Option<&StepView> {
    if step.kind != StepKind::Recipe {
        return Some(step);
    }
    let ran = |child: &&StepView| {
        let status = child.result.as_ref().map(|result| &result.status);
        status.is_some_and(|status| !matches!(status, StepStatus::Skipped { .. }))
    };
    step.children.iter().rfind(ran).and_then(last_executed)
}

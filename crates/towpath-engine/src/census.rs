//! How many steps ran, were skipped or were not reached: counted once, shown everywhere.

use towpath_core::StepPath;
use towpath_run::{Run, RunOutcome, StepState, StepStatus, StepView};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Census {
    /// Steps of the run's own recipe.
    pub total: usize,
    pub ran: usize,
    /// Ran and did not fail, or their failure is tolerated.
    pub done: usize,
    /// Of a resumed run: those that ended since it was resumed.
    pub ran_now: Option<usize>,
    pub completed: usize,
    pub failed: usize,
    pub skipped: Vec<(StepPath, String)>,
    pub tolerated: Vec<StepPath>,
    pub degraded: Vec<StepPath>,
    /// Failed, and finished by an agent.
    pub recovered: Vec<StepPath>,
    pub not_reached: usize,
    /// Begun, and waiting for a limit to end or for an answer.
    pub unfinished: usize,
    /// Known cost of every agent call, also of those that were made again.
    pub cost_usd: Option<f64>,
    /// Whether some agent call did not report what it cost.
    pub cost_unknown: bool,
    pub agent_calls: usize,
    pub reached_end: bool,
}

/// Counts the steps of a run.
pub fn census(run: &Run) -> Census {
    let view = run.view();
    let ran_now = run.was_resumed().then_some(0);
    let mut census = Census { total: view.len(), ran_now, ..Census::default() };
    for step in &view {
        count(step, &mut census);
    }
    if run.outcome().is_some() {
        // A step that calls a recipe waits with it.
        let running = |step: &&StepView| step.state == StepState::Running;
        census.unfinished += view.iter().filter(running).count();
    }
    collect(&view, &mut census);
    let spent = run.spent();
    census.agent_calls = spent.calls;
    census.cost_usd = spent.cost_usd;
    census.cost_unknown = spent.unknown;
    census.reached_end = run.outcome() == Some(RunOutcome::Done);
    census
}

fn count(step: &StepView, census: &mut Census) {
    let Some(result) = step.result.as_ref().filter(|_| step.state == StepState::Ended) else {
        match step.state {
            StepState::Waiting | StepState::Asking => census.unfinished += 1,
            StepState::Running => {}
            _ => census.not_reached += 1,
        }
        return;
    };
    match &result.status {
        StepStatus::Completed => census.completed += 1,
        StepStatus::Degraded { .. } | StepStatus::Recovered { .. } => {}
        StepStatus::Failed(_) => census.failed += 1,
        StepStatus::Skipped { .. } => return,
    }
    // A step whose condition or values failed never started.
    let started = step.attempts > 0 || !step.children.is_empty();
    let ran = started || result.status.is_success();
    census.ran += usize::from(ran);
    census.done += usize::from(result.status.is_success() || ran && step.tolerated);
    if let Some(ran_now) = &mut census.ran_now {
        *ran_now += usize::from(ran && ran_now_itself(step));
    }
}

/// Whether a step did something itself since the run was resumed, or one of the recipe that it called did.
fn ran_now_itself(step: &StepView) -> bool {
    let now = step.ended_now && !step.declared_done;
    now && (step.children.is_empty() || step.children.iter().any(ran_now_itself))
}

/// What is shown of every level: skips, tolerated failures.
fn collect(steps: &[StepView], census: &mut Census) {
    for step in steps {
        if let Some(result) = &step.result {
            match &result.status {
                StepStatus::Skipped { reason } => {
                    census.skipped.push((step.path.clone(), reason.clone()));
                }
                StepStatus::Degraded { .. } => census.degraded.push(step.path.clone()),
                StepStatus::Recovered { .. } => census.recovered.push(step.path.clone()),
                StepStatus::Completed | StepStatus::Failed(_) => {}
            }
            if step.tolerated {
                census.tolerated.push(step.path.clone());
            }
        }
        collect(&step.children, census);
    }
}

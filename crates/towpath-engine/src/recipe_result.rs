//! What came of a run, in one value: every step that ended, the final variables, how it went.

use crate::as_value::{VALUE_LIMIT, as_value};
use crate::error::{EngineError, io_error};
use crate::step_output::step_output;
use std::fs;
use std::time::Duration;
use towpath_core::{Map, RunId, StepPath};
use towpath_run::{Output, Run, RunOutcome, StepResult, StepState, StepStatus, StepView};
use towpath_store::{Output as Stored, Store};

/// How a run ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecipeResult {
    pub recipe_name: String,
    /// Whether the recipe was done: no step failed that was not tolerated.
    pub success: bool,
    /// Why it was not: a step failed, a limit, a question, a stop.
    pub outcome: RunOutcome,
    /// Every step that has ended, in the order of the file, a called recipe's below its step.
    pub step_results: Vec<StepReport>,
    /// The variables as they are at the end.
    pub context: Map,
    /// How long this call has driven the run.
    pub duration: Duration,
    /// What [`Runner::resume`](crate::Runner::resume) and `towpath show` take.
    pub run_id: RunId,
    pub warnings: Vec<String>,
}

impl RecipeResult {
    /// A step by its path, as `build` or `ci/build`.
    pub fn step(&self, step_id: &str) -> Option<&StepReport> {
        self.step_results.iter().find(|step| step.step_id == step_id)
    }
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// The step's path, as `build` or `ci/build`.
    pub step_id: String,
    pub status: StepStatus,
    /// What it printed, without the line ends at its end. None when it never ran; none also when it
    /// is over 16 MiB, and, while the run works, over 64 KiB where nothing reads it.
    pub output: Option<String>,
    /// Why it failed, with what the user should read first.
    pub error: Option<String>,
    pub duration: Duration,
    /// It failed, and `continue_on_error` lets the run continue.
    pub tolerated: bool,
}

impl StepReport {
    pub(crate) fn new(
        step: &StepPath,
        result: &StepResult,
        tolerated: bool,
        duration: Duration,
    ) -> StepReport {
        StepReport {
            step_id: step.to_string(),
            status: result.status.clone(),
            output: result.output.text().map(str::to_owned),
            error: error(&result.status),
            duration,
            tolerated,
        }
    }
}

fn error(status: &StepStatus) -> Option<String> {
    match status {
        StepStatus::Failed(failure) if failure.detail.is_empty() => Some(failure.message.clone()),
        StepStatus::Failed(failure) => Some(format!("{}: {}", failure.message, failure.detail)),
        _ => None,
    }
}

/// Makes the result of a run that has ended, or of its record.
pub(crate) fn recipe_result(
    store: &Store,
    run_id: RunId,
    run: &Run,
    outcome: RunOutcome,
    duration: Duration,
    warnings: Vec<String>,
) -> Result<RecipeResult, EngineError> {
    let mut step_results = Vec::new();
    collect(store, &run_id, &run.view(), &mut step_results)?;
    Ok(RecipeResult {
        recipe_name: run.program().root().name.clone(),
        success: outcome == RunOutcome::Done,
        outcome,
        step_results,
        context: run.context().clone(),
        duration,
        run_id,
        warnings,
    })
}

fn collect(
    store: &Store,
    run: &RunId,
    steps: &[StepView],
    reports: &mut Vec<StepReport>,
) -> Result<(), EngineError> {
    for step in steps {
        if let (StepState::Ended, Some(result)) = (step.state, &step.result) {
            let took = step.took_ms().unwrap_or(0);
            let took = Duration::from_millis(took.max(0).unsigned_abs());
            let mut report = StepReport::new(&step.path, result, step.tolerated, took);
            if let Output::OnDisk { .. } = result.output {
                report.output = stored_text(store, run, step)?;
            }
            reports.push(report);
        }
        collect(store, run, &step.children, reports)?;
    }
    Ok(())
}

fn stored_text(store: &Store, run: &RunId, step: &StepView) -> Result<Option<String>, EngineError> {
    Ok(match step_output(store, run, step)? {
        None => None,
        Some(Stored::Inline(bytes)) => Some(as_value(&bytes)),
        Some(Stored::File { len, .. }) if len > VALUE_LIMIT => None,
        Some(Stored::File { path, .. }) => {
            Some(as_value(&fs::read(&path).map_err(io_error(&path))?))
        }
    })
}

//! What is told about a step that failed: the end of what it said, and where all of it is.

use super::line::{Line, Tone, width};
use crate::words::clean;
use towpath_core::{RunId, StepPath};
use towpath_run::{Failure, FailureKind, StepResult, StepStatus, StepView};

/// So many lines of a step's last words are shown.
const LAST_LINES: usize = 6;
/// A longer message does not fit into the first line of an ending.
const SHORT: usize = 40;
/// A longer name gets a line of its own.
const NAME: usize = 24;

pub fn is_short(message: &str) -> bool {
    width(message) <= SHORT && !message.contains('\n')
}

/// `deploy  scripts/smoke.sh: connection refused`, and where the full output is.
pub fn block(
    run: &RunId,
    step: &StepPath,
    failure: &Failure,
    view: Option<&StepView>,
    limit: Option<usize>,
) -> Vec<Line> {
    let mut said = Vec::new();
    if !is_short(&failure.message) {
        said.extend(failure.message.lines().map(str::to_owned));
    }
    said.extend(last_words(failure, view.and_then(|v| v.result.as_ref())));
    let ran = view.is_some_and(|v| v.attempts > 0) && v_printed(failure.kind);
    if said.is_empty() && ran {
        said.push("it printed nothing".to_owned());
    }
    let mut lines = beside_name(step, &said, limit);
    if ran {
        let logs = format!("full output: towpath logs {run} {}", word(step.as_str()));
        lines.extend(beside_name(step, &[logs], None).pop().map(|line| without_name(step, line)));
    }
    lines
}

/// Whether a failure of this kind leaves an output behind.
fn v_printed(kind: FailureKind) -> bool {
    !matches!(kind, FailureKind::Value | FailureKind::Start | FailureKind::Limit)
}

/// The end of stderr; of stdout where stderr is empty, since many programs complain there.
fn last_words(failure: &Failure, result: Option<&StepResult>) -> Vec<String> {
    let stdout = result.and_then(|r| r.output.text()).unwrap_or_default();
    let text = if failure.detail.trim().is_empty() { stdout } else { failure.detail.as_str() };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    lines[first..].iter().map(|line| clean(line.trim_end())).collect()
}

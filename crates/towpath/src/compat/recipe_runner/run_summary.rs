//! The last lines of a run in the shape that scripts of this name read: one line with the result, one
//! per step. A skipped step has its reason, and the last line shows how many steps ran.

use crate::terminal::report;
use towpath_engine::RunEnd;
use towpath_run::{Output, RunOutcome, StepStatus, StepView};
use towpath_view::foreign_text::first_line;
use towpath_view::result_json::{step_error, step_status};

/// The block of a live screen, where there was one, has ended with a blank line.
pub fn text(end: &RunEnd, after_block: bool) -> String {
    let steps = end.run.view();
    let mut text = String::new();
    if printed(&steps) && !after_block {
        text.push('\n');
    }
    let word = match &end.outcome {
        RunOutcome::Done => "SUCCESS",
        RunOutcome::Failed { .. } => "FAILED",
        RunOutcome::Waiting { .. } => "WAITING",
        RunOutcome::Asking { .. } => "UNDECIDED",
        RunOutcome::Stopped { .. } => "STOPPED",
    };
    let name = first_line(&end.run.program().root().name);
    text.push_str(&format!("Recipe '{name}': {word} ({:.1}s)\n", end.took.as_secs_f64()));
    lines(&steps, 1, &mut text);
    text.push_str(&format!("{}\n", report::counts(end)));
    text
}

/// Whether some step has written to stdout.
fn printed(steps: &[StepView]) -> bool {
    steps.iter().any(|step| match step.result.as_ref().map(|result| &result.output) {
        None | Some(Output::None) => false,
        Some(Output::Text(text)) => !text.is_empty(),
        Some(Output::OnDisk { .. } | Output::TooLarge { .. }) => true,
    })
}

fn lines(steps: &[StepView], depth: usize, text: &mut String) {
    for step in steps {
        let status = step_status(step).replace('_', " ");
        let took =
            step.took_ms().map_or(String::new(), |ms| format!(" ({:.1}s)", ms as f64 / 1000.0));
        let indent = "  ".repeat(depth);
        text.push_str(&format!("{indent}[{status}] {}{took}{}\n", step.path, more(step)));
        lines(&step.children, depth + 1, text);
    }
}

fn more(step: &StepView) -> String {
    let Some(result) = &step.result else { return String::new() };
    match &result.status {
        StepStatus::Completed => String::new(),
        StepStatus::Skipped { reason } => format!(" -- {}", first_line(reason)),
        StepStatus::Degraded { reason } => format!(" -- warning: {}", first_line(reason)),
        StepStatus::Recovered { failure } => {
            format!(" -- after error: {}", first_line(&failure.message))
        }
        StepStatus::Failed(_) => {
            let tolerated = if step.tolerated { " (tolerated)" } else { "" };
            format!(" -- error: {}{tolerated}", first_line(&step_error(result)))
        }
    }
}

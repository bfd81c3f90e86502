//! What is printed about a step that failed: the end of its output, and where all of it is.

use super::fit_text::{width, wrapped};
use super::styled_line::{Line, Tone};
use crate::terminal::format::clean;
use towpath_core::{RunId, StepPath};
use towpath_run::{Failure, FailureKind, StepResult, StepStatus, StepView, without_report};
use towpath_shell::bash::quote;

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
    block_with(None, run, step, failure, view, limit)
}

/// The same, with what the step was to do.
pub fn block_with(
    work: Option<String>,
    run: &RunId,
    step: &StepPath,
    failure: &Failure,
    view: Option<&StepView>,
    limit: Option<usize>,
) -> Vec<Line> {
    let mut shown: Vec<String> = Vec::new();
    if !is_short(&failure.message) {
        shown.extend(failure.message.lines().map(clean));
    }
    shown.extend(last_words(failure, view.and_then(|step| step.result.as_ref())));
    let ran = has_output(failure, view);
    if shown.is_empty() && ran {
        let agent = matches!(failure.kind, FailureKind::Agent(_));
        shown.push(if agent { "it gave no answer" } else { "it printed nothing" }.to_owned());
    }
    let mut texts: Vec<(Tone, String)> = shown.into_iter().map(|t| (Tone::Plain, t)).collect();
    texts.extend(work.map(|work| (Tone::Plain, work)));
    if ran {
        texts.push((Tone::Faint, format!("full output: {}", logs(run, step, failure))));
    }
    beside_name(step, texts, limit)
}

/// Whether a failed step may have printed something.
pub fn has_output(failure: &Failure, view: Option<&StepView>) -> bool {
    use FailureKind::{Guardrail, Limit, Start, Value};
    let printed = !matches!(failure.kind, Value | Start | Limit | Guardrail(_));
    printed && view.is_some_and(|step| step.attempts > 0)
}

/// A step, wherever it is.
pub fn find<'a>(steps: &'a [StepView], path: &StepPath) -> Option<&'a StepView> {
    steps.iter().find_map(|step| match step.path == *path {
        true => Some(step),
        false => find(&step.children, path),
    })
}

/// The command that shows all that a failed step printed.
pub fn logs(run: &RunId, step: &StepPath, failure: &Failure) -> String {
    let raw = if matches!(failure.kind, FailureKind::Agent(_)) { " --raw" } else { "" };
    format!("towpath logs {run} {}{raw}", quote(step.as_str()))
}

/// The end of stderr; of stdout where stderr is empty, since many programs complain there.
fn last_words(failure: &Failure, result: Option<&StepResult>) -> Vec<String> {
    let stdout = result.and_then(|r| r.output.text()).unwrap_or_default();
    if failure.kind == FailureKind::Exit && failure.detail.is_empty() {
        return last_lines(&without_report(stdout));
    }
    last_lines(if failure.detail.trim().is_empty() { stdout } else { &failure.detail })
}

pub fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    lines[first..].iter().map(|line| clean(&line.trim_end().replace('\t', "    "))).collect()
}

/// A step's name with texts beside it, or below it where they would not fit.
pub fn beside_name(step: &StepPath, texts: Vec<(Tone, String)>, limit: Option<usize>) -> Vec<Line> {
    let name = clean(step.as_str());
    let beside = width(&name) <= NAME && limit.is_none_or(|limit| limit >= 60);
    let indent = if beside { width(&name) + 4 } else { 4 };
    let room = limit.map_or(usize::MAX, |limit| limit.saturating_sub(indent).max(20));
    let named = Line::plain("  ").with(Tone::Strong, name);
    let mut lines = Vec::new();
    for (tone, text) in texts {
        // A command is copied: it stays in one piece.
        let parts = if tone == Tone::Faint { vec![text] } else { wrapped(&text, room) };
        for part in parts {
            let line = match lines.is_empty() && beside {
                true => named.clone().text("  "),
                false => Line::plain(" ".repeat(indent)),
            };
            lines.push(line.with(tone, part));
        }
    }
    if !beside || lines.is_empty() {
        lines.insert(0, named);
    }
    lines
}

/// Other steps that failed on their own: not tolerated, not stopped, not because of a step below.
pub fn others(steps: &[StepView], main: &StepPath) -> Vec<(StepPath, String)> {
    let mut found = Vec::new();
    for step in steps.iter().filter(|step| !step.tolerated) {
        let below = others(&step.children, main);
        let leads_to_main = main.as_str().starts_with(&format!("{}/", step.path));
        if let Some(StepResult { status: StepStatus::Failed(failure), .. }) = &step.result
            && failure.kind != FailureKind::Stopped
            && below.is_empty()
            && step.path != *main
            && !leads_to_main
        {
            found.push((step.path.clone(), failure.message.clone()));
        }
        found.extend(below);
    }
    found
}

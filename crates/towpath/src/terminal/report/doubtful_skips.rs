//! Steps that were skipped because of a condition that had a warning: perhaps they were meant to run.
//! The warning was printed before the first step, and may be far above by now.

use super::failed_step::beside_name;
use super::styled_line::{Line, Tone};
use crate::terminal::format::clean;
use towpath_core::{Diagnostic, StepPath};
use towpath_engine::{RunEnd, census};
use towpath_recipe::{ConditionWarning, condition_warnings};
use towpath_run::Run;
use towpath_shell::bash::quote;

/// More steps than this are not named.
const STEPS: usize = 6;

pub fn doubtful_skips(end: &RunEnd, limit: Option<usize>) -> Vec<Line> {
    let skipped = census(&end.run).skipped;
    if skipped.is_empty() {
        return Vec::new();
    }
    let warnings = condition_warnings(&end.run.program().plan);
    let mut lines = Vec::new();
    let doubtful = skipped.iter().filter_map(|(step, _)| {
        let found = warnings_of(&end.run, step, &warnings);
        (!found.is_empty()).then_some((step, found))
    });
    for (step, warnings) in doubtful.take(STEPS) {
        let mut texts =
            vec![(Tone::Attention, "was skipped, and its condition has a warning".to_owned())];
        let described = warnings.iter().flat_map(|problem| described(problem));
        texts.extend(described.map(|text| (Tone::Plain, clean(&text))));
        let show = format!("towpath show {} {}", end.id, quote(step.as_str()));
        texts.push((Tone::Faint, format!("what it compared: {show}")));
        lines.extend(beside_name(step, texts, limit));
    }
    lines
}

/// The warnings about the condition of a step that its condition, not a tag, left out.
pub fn warnings_of<'w>(
    run: &Run,
    step: &StepPath,
    warnings: &'w [ConditionWarning],
) -> Vec<&'w Diagnostic> {
    let Some((recipe, definition)) = run.definition(step) else { return Vec::new() };
    if run.program().plan.tags.against(definition).is_some() {
        return Vec::new();
    }
    let own =
        |warning: &&ConditionWarning| warning.recipe == recipe && warning.step == definition.id;
    warnings.iter().filter(own).map(|warning| &warning.problem).collect()
}

/// What a warning reports, and what to do about it.
pub fn described(problem: &Diagnostic) -> Vec<String> {
    let label = problem.labels.first().map(|label| label.text.clone());
    let more = label.into_iter().chain(problem.help.clone());
    std::iter::once(problem.message.clone()).chain(more.filter(|text| !text.is_empty())).collect()
}

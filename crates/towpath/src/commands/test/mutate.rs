//! Do the tests notice when a step does nothing? Each step of the recipe is taken away once: its
//! command, its agent's work, or all below the recipe that it calls. Only cases in which the step
//! ran can notice; the first one that fails has.

use super::play::{Played, Stage};
use super::subject::Subject;
use super::together;
use super::view::View;

/// One step that did nothing.
#[derive(Debug)]
pub struct Mutant {
    pub step: String,
    /// Whether any case ran the step at all.
    pub ran: bool,
    /// The case that failed without it.
    pub noticed_by: Option<String>,
}

/// Takes every step away, by file.
pub fn all(
    stage: &Stage<'_>,
    subjects: &[Subject],
    played: &[Vec<Option<Played>>],
    jobs: usize,
    view: &View,
) -> Vec<Vec<Mutant>> {
    let mut work: Vec<(usize, String)> = Vec::new();
    for (file, subject) in subjects.iter().enumerate() {
        let steps = subject.program.iter().flat_map(|program| &program.root().steps);
        work.extend(steps.map(|step| (file, step.id.clone())));
    }
    let mut mutants: Vec<Vec<Mutant>> = subjects.iter().map(|_| Vec::new()).collect();
    let one = |index: usize| {
        let (file, step) = &work[index];
        take_away(stage, &subjects[*file], &played[*file], step)
    };
    let tell = &mut |index: usize, mutant: Option<Mutant>| {
        let Some(mutant) = mutant else { return };
        let file: usize = work[index].0;
        if mutants[file].is_empty() {
            view.without(&subjects[file]);
        }
        view.mutant(&subjects[file], &mutant);
        mutants[file].push(mutant);
    };
    together::in_order(jobs, work.len(), one, tell, &|done| {
        view.under_way(done, work.len(), "step");
    });
    mutants
}

/// None: we were told to stop.
fn take_away(
    stage: &Stage<'_>,
    subject: &Subject,
    played: &[Option<Played>],
    step: &str,
) -> Option<Mutant> {
    let mut mutant = Mutant { step: step.to_owned(), ran: false, noticed_by: None };
    for (case, before) in subject.suite.cases.iter().zip(played) {
        let ran = before.as_ref().is_some_and(|p| p.started.iter().any(|path| path == step));
        if !ran {
            continue;
        }
        mutant.ran = true;
        let now = stage.play(subject, case, Some(step))?;
        if !now.problems.is_empty() {
            mutant.noticed_by = Some(case.name.clone());
            break;
        }
    }
    Some(mutant)
}

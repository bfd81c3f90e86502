//! Do the tests notice when the recipe does less? Each step is taken away once: its command, its
//! agent's work, or all below the recipe that it calls. In a state machine each transition ends the
//! run instead, and its agents are left alone: without an outcome no run continues. Only cases that
//! met the changed thing can notice; those with the fewest steps are tried first, and the first one that
//! fails has noticed.

use crate::case_runner::{CaseResult, CaseRunner};
use crate::in_order;
use crate::result_observer::Observer;
use crate::tested_recipe::TestedRecipe;
use towpath_recipe::{Recipe, Work};

/// What is changed of a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The step does nothing.
    Idle { step: String },
    /// The transition ends the run, with a reason of its own.
    Ends { step: String, outcome: String },
}

impl Change {
    pub fn step(&self) -> &str {
        match self {
            Change::Idle { step } | Change::Ends { step, .. } => step,
        }
    }

    pub fn outcome(&self) -> Option<&str> {
        match self {
            Change::Idle { .. } => None,
            Change::Ends { outcome, .. } => Some(outcome),
        }
    }

    /// What is changed, in a few words.
    pub fn describe(&self) -> String {
        match self {
            Change::Idle { step } => step.clone(),
            Change::Ends { step, outcome } => format!("{step}: {outcome}"),
        }
    }

    fn is_met_by(&self, result: &CaseResult) -> bool {
        match self {
            Change::Idle { step } => result.started.contains(step),
            Change::Ends { step, outcome } => {
                result.taken.iter().any(|(s, o)| s == step && o == outcome)
            }
        }
    }
}

/// Every change of a recipe, in the order of the file.
pub fn changes(recipe: &Recipe) -> Vec<Change> {
    let mut changes = Vec::new();
    let machine = recipe.machine().is_some();
    for step in &recipe.steps {
        if !(machine && matches!(step.work, Work::Agent(_))) {
            changes.push(Change::Idle { step: step.id.clone() });
        }
        changes.extend(
            step.outcomes.iter().map(|outcome| Change::Ends {
                step: step.id.clone(),
                outcome: outcome.name.clone(),
            }),
        );
    }
    changes
}

/// One change, and who noticed.
#[derive(Debug)]
pub struct Mutant {
    pub change: Change,
    /// Whether any case met it at all.
    pub ran: bool,
    /// The case that failed.
    pub noticed_by: Option<String>,
}

/// Makes every change of every recipe, `jobs` at once; by file. `results` are those of the unchanged
/// recipes.
pub fn mutate(
    runner: &CaseRunner<'_>,
    subjects: &[TestedRecipe],
    results: &[Vec<Option<CaseResult>>],
    jobs: usize,
    observer: &dyn Observer,
) -> Vec<Vec<Mutant>> {
    let mut work: Vec<(usize, Change)> = Vec::new();
    for (file, subject) in subjects.iter().enumerate() {
        let changes = subject.program.iter().flat_map(|program| changes(program.root()));
        work.extend(changes.map(|change| (file, change)));
    }
    let mut mutants: Vec<Vec<Mutant>> = subjects.iter().map(|_| Vec::new()).collect();
    let one = |index: usize| {
        let (file, change) = &work[index];
        try_out(runner, &subjects[*file], &results[*file], change)
    };
    let report = &mut |index: usize, mutant: Option<Mutant>| {
        let Some(mutant) = mutant else { return };
        let file: usize = work[index].0;
        if mutants[file].is_empty() {
            observer.mutations(&subjects[file]);
        }
        observer.mutant(&subjects[file], &mutant);
        mutants[file].push(mutant);
    };
    in_order::in_order(jobs, work.len(), one, report, &|done| {
        observer.under_way(done, work.len(), "change");
    });
    mutants
}

/// None: we were stopped.
fn try_out(
    runner: &CaseRunner<'_>,
    subject: &TestedRecipe,
    results: &[Option<CaseResult>],
    change: &Change,
) -> Option<Mutant> {
    let met = subject.suite.cases.iter().zip(results).filter_map(|(case, before)| {
        let before = before.as_ref().filter(|result| change.is_met_by(result))?;
        Some((before.started.len(), case))
    });
    let mut met: Vec<_> = met.collect();
    met.sort_by_key(|(steps, _)| *steps);
    let mut mutant = Mutant { change: change.clone(), ran: !met.is_empty(), noticed_by: None };
    for (_, case) in met {
        let now = runner.run_case(subject, case, Some(change))?;
        if !now.problems.is_empty() {
            mutant.noticed_by = Some(case.name.clone());
            break;
        }
    }
    Some(mutant)
}

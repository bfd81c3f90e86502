//! The warnings about conditions in a stored plan, found again from its texts: a step that was skipped
//! because of such a condition was perhaps not meant to be.

use crate::draft::{Gate, StepDraft};
use crate::lints;
use crate::loaded::Loaded;
use crate::plan::Plan;
use crate::recipe_file::RecipeFile;
use crate::recipe_search::Origin;
use crate::unset_variables::unset_variables;
use crate::variable_flow::VariableFlow;
use std::collections::BTreeMap;
use std::sync::Arc;
use towpath_core::{Diagnostic, Severity};

/// A warning about the condition of one step.
#[derive(Debug, Clone)]
pub struct ConditionWarning {
    /// The index of the step's recipe in the plan.
    pub recipe: usize,
    /// The step's id there.
    pub step: String,
    pub problem: Diagnostic,
}

/// All warnings about conditions, those of every recipe that can be reached.
pub fn condition_warnings(plan: &Plan) -> Vec<ConditionWarning> {
    let (loaded, mut problems) = load(plan);
    let flow = VariableFlow::new(&loaded, &plan.inputs, plan.dialect);
    problems.extend(unset_variables(&flow));
    problems.extend(lints::lints(&flow));
    problems.retain(|problem| problem.severity != Severity::Note);
    let mut found = Vec::new();
    for (recipe, loaded) in loaded.iter().enumerate().filter(|(_, loaded)| loaded.is_called) {
        for step in &loaded.draft.steps {
            let own = problems.iter().filter(|problem| is_about_condition(problem, step));
            found.extend(own.filter_map(|problem| {
                let step = step.id.clone()?;
                Some(ConditionWarning { recipe, step, problem: problem.clone() })
            }));
        }
    }
    found
}

fn is_about_condition(problem: &Diagnostic, step: &StepDraft) -> bool {
    let (Gate::Condition(located), Some(label)) = (&step.gate, problem.labels.first()) else {
        return false;
    };
    let whole = located.map.locate(0..located.condition.text().len());
    Arc::ptr_eq(&label.source, &located.source)
        && whole.start <= label.span.start
        && label.span.end <= whole.end
}

/// The recipes of a plan as the checks see them, and what reading them reported.
fn load(plan: &Plan) -> (Vec<Loaded>, Vec<Diagnostic>) {
    let (drafts, problems) = plan.drafts();
    let loaded = drafts.into_iter().zip(&plan.recipes).map(|(draft, planned)| Loaded {
        file: RecipeFile::BuiltIn(""),
        origin: Origin::Named,
        recipe: None,
        draft,
        calls: planned.calls.clone(),
        extends: planned.extends,
        is_called: false,
        files: BTreeMap::new(),
    });
    let mut loaded: Vec<Loaded> = loaded.collect();
    mark_called(&mut loaded);
    (loaded, problems)
}

fn mark_called(loaded: &mut [Loaded]) {
    let mut called = vec![0];
    while let Some(index) = called.pop() {
        let Some(recipe) = loaded.get_mut(index).filter(|recipe| !recipe.is_called) else {
            continue;
        };
        recipe.is_called = true;
        called.extend(recipe.calls.values().copied());
    }
}

//! What is valid in a recipe and cannot be meant: conditions that never change, steps and parts of
//! values that are not there, braces that are no placeholder. What never has a value is an error under
//! our own rules; everything else here is a warning or a note.

use crate::condition::lints::{Lint, NoValue, Variables, What};
use crate::draft::{Gate, LocatedCondition, StepDraft};
use crate::loaded::Loaded;
use crate::recipe::VariableUse;
use crate::unset_variables::{HOOK_VARIABLES, STEPS, who};
use crate::variable_flow::VariableFlow;
use crate::variable_shapes::RecipeVariables;
use std::collections::HashSet;
use towpath_core::{Diagnostic, Severity};

pub(crate) fn lints(flow: &VariableFlow<'_>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (index, recipe) in flow.loaded.iter().enumerate() {
        if flow.open[index] || !recipe.is_called {
            continue;
        }
        // In a machine any step may come before any other, and there are no conditions.
        if !recipe.draft.is_machine {
            problems.extend(in_steps(&RecipeVariables::new(flow, index), recipe, flow.severity));
        }
        problems.extend(stray_braces(flow, recipe, index));
    }
    problems
}

fn in_steps(
    variables: &RecipeVariables<'_>,
    recipe: &Loaded,
    severity: Severity,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (batch_range, batch) in recipe.draft.batches() {
        for step in batch.iter().filter(|step| !step.unsure) {
            if let Gate::Condition(located) = &step.gate {
                let at = variables.of_step(batch_range.clone(), None);
                problems.extend(in_condition(step, located, &at, severity));
            }
            let at = variables.of_step(batch_range.clone(), Some(step));
            let uses = step.uses.iter().filter(|used| !used.is_condition());
            problems.extend(without_value(&who(step), uses, &at, severity));
        }
    }
    let hooks = recipe.draft.hooks.uses.iter();
    problems.extend(without_value("a hook", hooks, &variables.of_hooks(), severity));
    problems
}

fn in_condition(
    step: &StepDraft,
    located: &LocatedCondition,
    variables: &dyn Variables,
    severity: Severity,
) -> Vec<Diagnostic> {
    let lints = located.condition.lints(variables).into_iter();
    let report = |Lint { range, what }: Lint| {
        let written = located.condition.text()[range.clone()].to_owned();
        let span = located.map.locate(range);
        match what {
            What::NoValue(NoValue { code, why, label }) => {
                let message = format!(
                    "the condition of {} reads `{written}`, {why}: it will be null",
                    who(step)
                );
                Diagnostic::new(severity, code, message).at(&located.source, span, label)
            }
            What::Report { severity, code, message, label, help } => Diagnostic {
                help,
                ..Diagnostic::new(severity, code, message).at(&located.source, span, label)
            },
        }
    };
    lints.filter(|lint| lint.is_new(located.is_constant)).map(report).collect()
}

fn without_value<'u>(
    who: &str,
    uses: impl Iterator<Item = &'u VariableUse>,
    variables: &dyn Variables,
    severity: Severity,
) -> Vec<Diagnostic> {
    let mut reported = HashSet::new();
    uses.filter(|used| !used.has_default && reported.insert(used.path.as_str()))
        .filter_map(|used| {
            let path: Vec<&str> = used.path.segments().collect();
            let NoValue { code, why, label } = variables.shape(&path).err()?;
            let then = used.without_value();
            let message = format!("{who} uses {{{{{}}}}}, {why}: {then}", used.path);
            Some(Diagnostic::new(severity, code, message).at(&used.source, used.span, label))
        })
        .collect()
}

fn stray_braces(flow: &VariableFlow<'_>, recipe: &Loaded, index: usize) -> Vec<Diagnostic> {
    let draft = &recipe.draft;
    let mut names = flow.names_in(index);
    if !draft.is_machine {
        names.extend(HOOK_VARIABLES.iter().chain([&STEPS]));
    }
    draft.stray_braces.iter().filter_map(|braces| braces.problem(&names)).collect()
}

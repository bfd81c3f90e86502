//! Recipes that call each other in a circle. A circle is fine when a condition or an outcome can end
//! it; one in which every call is always made could only end at a limit and is refused.

use crate::draft::StepDraft;
use crate::loaded::Loaded;
use crate::recipe::Named;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span};

/// One unconditional call.
struct UnconditionalCall {
    callee: usize,
    source: Arc<Source>,
    span: Span,
}

pub(crate) fn endless(loaded: &[Loaded]) -> Vec<Diagnostic> {
    let calls: Vec<Vec<UnconditionalCall>> = loaded.iter().map(unconditional_calls).collect();
    let mut state = vec![Visit::Not; loaded.len()];
    let mut problems = Vec::new();
    for start in 0..loaded.len() {
        let mut chain = Vec::new();
        visit(start, &calls, &mut state, &mut chain, &mut |circle| {
            problems.push(endless_calls(loaded, &calls, circle));
        });
    }
    problems
}

fn unconditional_calls(loaded: &Loaded) -> Vec<UnconditionalCall> {
    always_entered(loaded)
        .iter()
        .filter(|step| step.gate.is_always())
        .filter_map(|step| {
            let Named { name, source, span } = step.calls()?;
            let callee = *loaded.calls.get(name)?;
            Some(UnconditionalCall { callee, source: Arc::clone(source), span: *span })
        })
        .collect()
}

/// The steps that every run comes to: of a machine only its first.
fn always_entered(loaded: &Loaded) -> &[StepDraft] {
    let steps = loaded.draft.steps.as_slice();
    if !loaded.draft.is_machine {
        return steps;
    }
    // A machine's draft has all its steps, in their order, once it could be read.
    let initial = loaded.recipe.as_ref().and_then(|recipe| Some(recipe.machine()?.initial));
    initial.and_then(|at| steps.get(at)).map_or(&[], std::slice::from_ref)
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    Not,
    OnChain,
    Done,
}

/// Depth first over the calls with its own stack: a chain of recipes may be long. The chain has
/// each recipe with the number of its call that is being followed.
fn visit(
    start: usize,
    calls: &[Vec<UnconditionalCall>],
    state: &mut [Visit],
    chain: &mut Vec<(usize, usize)>,
    found: &mut impl FnMut(&[(usize, usize)]),
) {
    if state[start] != Visit::Not {
        return;
    }
    state[start] = Visit::OnChain;
    chain.push((start, 0));
    while let Some((recipe, next)) = chain.last().copied() {
        let Some(call) = calls[recipe].get(next) else {
            state[recipe] = Visit::Done;
            chain.pop();
            if let Some(caller) = chain.last_mut() {
                caller.1 += 1;
            }
            continue;
        };
        match state[call.callee] {
            Visit::Not => {
                state[call.callee] = Visit::OnChain;
                chain.push((call.callee, 0));
                continue;
            }
            Visit::OnChain => {
                let begin = chain.iter().position(|(r, _)| *r == call.callee).unwrap_or(0);
                found(&chain[begin..]);
            }
            Visit::Done => {}
        }
        if let Some(last) = chain.last_mut() {
            last.1 += 1;
        }
    }
}

fn endless_calls(
    loaded: &[Loaded],
    calls: &[Vec<UnconditionalCall>],
    circle: &[(usize, usize)],
) -> Diagnostic {
    let names: Vec<String> = circle
        .iter()
        .chain(circle.first())
        .map(|(recipe, _)| loaded[*recipe].name().to_owned())
        .collect();
    let mut problem = Diagnostic::error(
        "endless-calls",
        format!("these recipes call each other without end: {}", names.join(" → ")),
    );
    for ((recipe, call), callee) in circle.iter().zip(&names[1..]) {
        let call = &calls[*recipe][*call];
        problem = problem.at(&call.source, call.span, format!("calls {callee}"));
    }
    problem.help(way_out(loaded, circle))
}

/// What the user can do: the steps of a machine have no conditions, and the one it begins with is
/// entered by every run.
fn way_out(loaded: &[Loaded], circle: &[(usize, usize)]) -> String {
    let recipes = circle.iter().map(|(recipe, _)| &loaded[*recipe]);
    let (machines, lists): (Vec<_>, Vec<_>) = recipes.partition(|r| r.draft.is_machine);
    let names: Vec<&str> = lists.iter().map(|recipe| recipe.name()).collect();
    match (machines.is_empty(), names.as_slice()) {
        (true, _) => "give one of these steps a `condition` that ends it".to_owned(),
        (false, []) => {
            "let one of these state machines begin with another step, one of whose outcomes \
                        does not lead to the call"
                .to_owned()
        }
        (false, names) => {
            format!("give the step of {} a `condition` that ends it", names.join(" or of "))
        }
    }
}

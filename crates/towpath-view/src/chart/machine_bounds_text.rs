//! The bounds of a state machine in words: steps, agent calls, restarts, visits, and `other`.

use crate::amounts_and_times::count;
use crate::foreign_text::clean;
use towpath_recipe::{
    Analysis, End, Ending, OTHER, Program, Recipe, Restarts, Step, Transition, Work,
};

/// Why a state machine ends that may not restart any more.
pub const RESTARTS_EXCEEDED: &str = "max-restarts-exceeded";

/// How many restarts the user allows, where a state machine could want one more.
pub fn refused_restart(program: &Program, analysis: &Analysis) -> Option<u32> {
    let restarts = analysis.paths.iter().any(|path| matches!(path.end, End::Restart(_)));
    program.plan.machine.max_restarts.filter(|_| restarts)
}

/// `at most 6 steps, 12 agent calls`, what `other` does, and how often a step may be entered.
pub fn bounds(recipe: &Recipe, analysis: &Analysis, restarts: Restarts) -> Vec<String> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let steps = count(number(analysis.bounds.steps), "step");
    let calls = match number(analysis.bounds.agent_calls) {
        0 => "no agent call".to_owned(),
        calls => count(calls, "agent call"),
    };
    let session = if restarts == Restarts::None { "" } else { " in each session" };
    let rough = if analysis.bounds.exact { "" } else { " (an upper bound)" };
    let beside =
        if analysis.calls_recipes { ", besides those of the recipes it calls" } else { "" };
    let mut parts = vec![format!("at most {steps}, {calls}{beside}{session}{rough}")];
    match restarts {
        Restarts::None => {}
        Restarts::AtMost(most) => {
            parts.push(format!("at most {}", count(most as usize, "restart")));
        }
        Restarts::Unbounded => parts.push("restarts without end".to_owned()),
    }
    parts.extend(other(recipe));
    let visits = analysis.guardrails.max_step_visits;
    if analysis.in_loop.iter().zip(&analysis.reachable).any(|(looped, reached)| *looped && *reached)
    {
        let times = if visits == 1 { "once".to_owned() } else { format!("{visits} times") };
        parts.push(format!("each step at most {times}"));
    }
    parts
}

/// What is not drawn.
fn other(recipe: &Recipe) -> Option<String> {
    let exits = |step: &Step| {
        let other = step.outcomes.iter().find(|outcome| outcome.name == OTHER);
        other.and_then(|outcome| match outcome.then {
            Transition::Exit { ending, .. } => Some(ending),
            _ => None,
        })
    };
    let ends = |step: &&Step| exits(step).is_some();
    let asking: Vec<&Step> =
        recipe.steps.iter().filter(|step| matches!(step.work, Work::Agent(_))).collect();
    let ending: Vec<&Step> = recipe.steps.iter().filter(ends).collect();
    let verb = match ending.iter().all(|step| exits(step).is_some_and(Ending::failed)) {
        true => "fail",
        false => "end",
    };
    if ending.is_empty() {
        None
    } else if ending.len() == recipe.steps.len() {
        Some(format!("every step also {verb}s on `other`"))
    } else if asking.iter().all(ends) {
        Some(format!("every agent step also {verb}s on `other`"))
    } else {
        let names: Vec<String> = ending.iter().map(|step| clean(&step.id)).collect();
        let s = if names.len() == 1 { "s" } else { "" };
        Some(format!("{} also {verb}{s} on `other`", names.join(", ")))
    }
}
